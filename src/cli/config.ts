/** Where option values come from: flags, then environment, then a YAML file, then defaults. */
import { readFileSync } from 'node:fs'
import { parse as parseYaml, stringify as stringifyYaml } from 'yaml'
import { NewcutError } from '../core/errors.ts'
import { devnetOptions, environmentName, mineOptions, type OptionSpec, type Values } from './options.ts'

export type Origin = 'flag' | 'environment' | 'file' | 'default'

export interface Config<Table> {
  readonly values: Values<Table>
  /** Option name -> where its value comes from. */
  readonly origins: ReadonlyMap<string, Origin>
}

type Environment = Readonly<Record<string, string | undefined>>

export const CONFIG_VARIABLE = 'NEWCUT_CONFIG'

/**
 * The effective values of `table`. `flags`: option name -> text as typed. `file`: a path given by flag; else the
 * variable NEWCUT_CONFIG may name one. Throws NewcutError BAD_OPTION or BAD_CONFIG.
 */
export function resolveConfig<Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  flags: Readonly<Record<string, unknown>>,
  environment: Environment,
  file: string | undefined,
): Config<Table> {
  refuseUnknownVariables(environment)
  const path = file ?? environment[CONFIG_VARIABLE]
  const fileValues = path === undefined ? {} : readConfigFile(path)
  const values: Record<string, unknown> = {}
  const origins = new Map<string, Origin>()
  for (const [name, entry] of Object.entries(table)) {
    const spec = entry as OptionSpec<unknown>
    const variable = environmentName(name)
    const given: [Origin, unknown, string][] = [
      ['flag', flags[name], flagText(name, flags[name])],
      ['environment', environment[variable], `${variable}=${environment[variable]}`],
      ['file', fileValues[name], `${path}, ${name}: ${JSON.stringify(fileValues[name])}`],
    ]
    const first = given.find(([, raw]) => raw !== undefined && raw !== null)
    origins.set(name, first?.[0] ?? 'default')
    values[name] = first === undefined ? spec.fallback : parsed(spec, first[1], first[2])
  }
  return { values: values as Values<Table>, origins }
}

function parsed(spec: OptionSpec<unknown>, raw: unknown, where: string): unknown {
  const value = spec.kind.parse(raw)
  if (value === undefined) throw new NewcutError('BAD_OPTION', `${where}: expected ${spec.kind.expected}`)
  return value
}

function flagText(name: string, raw: unknown): string {
  return raw === false ? `--no-${name}` : `--${name} ${Array.isArray(raw) ? raw.join(' ') : raw}`
}

/** Every name that any command knows: one file and one environment serve all commands. */
const knownNames = new Set([...Object.keys(mineOptions), ...Object.keys(devnetOptions)])

function refuseUnknownVariables(environment: Environment): void {
  const known = new Set([CONFIG_VARIABLE, ...[...knownNames].map(environmentName)])
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith('NEWCUT_') || known.has(variable)) continue
    throw new NewcutError('BAD_OPTION', `${variable} in the environment: no such option${closest(variable, known)}`)
  }
}

function readConfigFile(path: string): Readonly<Record<string, unknown>> {
  let content: unknown
  try {
    content = parseYaml(readFileSync(path, 'utf8'))
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]
    throw new NewcutError('BAD_CONFIG', `configuration file ${path}: ${reason}`, { cause: error })
  }
  if (content === null) return {}
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new NewcutError('BAD_CONFIG', `configuration file ${path}: expected lines of the form option: value`)
  }
  for (const name of Object.keys(content)) {
    if (!knownNames.has(name)) {
      throw new NewcutError('BAD_CONFIG', `${path}, ${name}: no such option${closest(name, knownNames)}`)
    }
  }
  return content as Record<string, unknown>
}

/** The most similar known name, as a question; empty when nothing is near. */
export function closest(name: string, known: Iterable<string>): string {
  let best = ''
  let bestDistance = 4
  for (const candidate of known) {
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best === '' ? '' : `; did you mean ${best}?`
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}

/** The effective configuration as a YAML file; where each value comes from is a comment. */
export function printConfig<Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  { values, origins }: Config<Table>,
): string {
  const lines = Object.entries(table).map(([name, entry]) => {
    const spec = entry as OptionSpec<unknown>
    const value = (values as Record<string, unknown>)[name]
    if (value === undefined) return `# ${name}: not set (${spec.help})`
    const yaml = stringifyYaml({ [name]: spec.kind.format(value) }, { collectionStyle: 'flow', lineWidth: 0 })
      .trim()
      .replace(/^\{ (.*) \}$/, '$1')
    return `${yaml} # ${origins.get(name)}`
  })
  return `${lines.join('\n')}\n`
}
