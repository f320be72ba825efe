/** Option values: from flags, the environment, a YAML file and defaults, in this order of priority. */
import { NewcutError } from '../base/errors.ts'
import { readUserText } from '../base/user-file.ts'
import { closest } from './closest.ts'
import { environmentName, negatedName, type OptionSpec, type Values } from './options/row.ts'
import { optionTables } from './options/table.ts'
import { valueIn } from './values.ts'
import { yaml } from './yaml.ts'

/** `order`: a request to the running miner. */
export type GivenBy = 'order' | 'flag' | 'environment' | 'file' | 'default'

export interface Config<Table> {
  readonly values: Values<Table>
  /** Option name -> origin of its value. */
  readonly origins: ReadonlyMap<string, GivenBy>
  /** The configuration file, or null if there is none. */
  readonly file: string | null
  /** The sources of the values. */
  readonly layers: Layers
}

type Environment = Readonly<Record<string, string | undefined>>
/** Option name -> value as written. */
export type RawOptions = Readonly<Record<string, unknown>>

/** The sources of values, by priority. */
export interface Layers {
  readonly orders: RawOptions
  /** Text as typed. */
  readonly flags: RawOptions
  readonly environment: Environment
  /** The options of the file; empty without a file. */
  readonly content: RawOptions
  /** Its path for errors, or null if there is no file. */
  readonly file: string | null
}

const CONFIG_VARIABLE = 'NEWCUT_CONFIG'

/**
 * @returns the effective values of `table`.
 * @param flags option name -> text as typed
 * @param file the path of `--config`; by default that of NEWCUT_CONFIG. Throws NewcutError BAD_OPTION or BAD_CONFIG.
 */
export function resolveConfig<Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  flags: RawOptions,
  environment: Environment,
  file: string | undefined,
): Config<Table> {
  refuseUnknownVariables(environment)
  const path = file ?? environment[CONFIG_VARIABLE] ?? null
  const content = path === null ? {} : parseConfigFile(path, readConfigFile(path))
  return resolveLayers(table, { orders: {}, flags, environment, content, file: path })
}

/** The effective values of `table` in these layers. Throws NewcutError BAD_OPTION. */
export function resolveLayers<Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  layers: Layers,
): Config<Table> {
  const { orders, flags, environment, content, file } = layers
  const values: Record<string, unknown> = {}
  const origins = new Map<string, GivenBy>()
  for (const [name, entry] of Object.entries(table)) {
    const spec = entry as OptionSpec<unknown>
    const value = (text: string) => (spec.isSecret ? '***' : text)
    const inEnvironment = (known: string) => {
      const variable = environmentName(known)
      return { raw: environment[variable], where: `${variable}=${value(String(environment[variable]))}` }
    }
    const inFile = (known: string) => {
      return { raw: content[known], where: `${file}, ${known}: ${value(shown(content[known]))}` }
    }
    const typed = spec.isSecret ? `--${name} ***` : flagText(name, flags[name])
    const ordered = { raw: orders[name], where: `${name}: ${value(shown(orders[name]))}` }
    const first: [GivenBy, RawValue | undefined][] = [
      ['order', found(ordered)],
      ['flag', found({ raw: flags[name], where: typed })],
    ]
    const elsewhere: [GivenBy, RawValue | undefined][] = spec.isFlagOnly
      ? []
      : [
          ['environment', eitherName(name, spec, inEnvironment)],
          ['file', eitherName(name, spec, inFile)],
        ]
    const [origin, given] = [...first, ...elsewhere].find(([, each]) => each !== undefined) ?? ['default', undefined]
    origins.set(name, origin)
    values[name] = given === undefined ? spec.fallback : givenValue(spec, given)
  }
  return { values: values as Values<Table>, origins, file, layers }
}

/** A value as the user wrote it, and where. */
interface RawValue {
  readonly raw: unknown
  readonly where: string
  /** Written under its negated name: `no-pow` for `pow`. */
  readonly isNegated?: boolean
}

const found = (given: RawValue): RawValue | undefined =>
  given.raw === undefined || given.raw === null ? undefined : given

/** A value as errors repeat it. JSON may nest too deep to be written, and an alias of YAML may be inside its own value. */
export function shown(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return 'a value that nests without end'
  }
}

/** Reads an option by its name or its second name: NEWCUT_NO_POW=1 is NEWCUT_POW=false, `nodes` is `node`. */
function eitherName(name: string, spec: OptionSpec<unknown>, read: (known: string) => RawValue): RawValue | undefined {
  const plain = found(read(name))
  const negation = negatedName(name, spec)
  const otherName = negation ?? spec.plural
  const other = otherName === undefined ? undefined : found(read(otherName))
  if (plain !== undefined && other !== undefined) {
    throw new NewcutError('BAD_OPTION', `${plain.where} and ${other.where} are the same option: set only one of them`)
  }
  return plain ?? (other && { ...other, isNegated: negation !== null })
}

function givenValue({ kind }: OptionSpec<unknown>, { raw, where, isNegated }: RawValue): unknown {
  const value = valueIn(kind, raw, where)
  return isNegated ? !value : value
}

function flagText(name: string, raw: unknown): string {
  return raw === false ? `--no-${name}` : `--${name} ${Array.isArray(raw) ? raw.join(' ') : raw}`
}

/** The names of all options of all commands: one file and one environment serve all commands. */
function knownNames(): Set<string> {
  const namesOf = (table: Readonly<Record<string, unknown>>) =>
    Object.entries(table).flatMap(([name, entry]) => {
      const spec = entry as OptionSpec<unknown>
      return spec.isFlagOnly ? [] : [name, negatedName(name, spec) ?? spec.plural ?? name]
    })
  return new Set(optionTables.flatMap(namesOf))
}

function refuseUnknownVariables(environment: Environment): void {
  const ours = Object.keys(environment).filter((variable) => variable.startsWith('NEWCUT_'))
  if (ours.length === 0) return
  const known = new Set([CONFIG_VARIABLE, ...[...knownNames()].map(environmentName)])
  for (const variable of ours) {
    if (known.has(variable)) continue
    throw new NewcutError('BAD_OPTION', `${variable} in the environment: no such option${closest(variable, known)}`)
  }
}

/** The reason without the path, which the error names anyway, and without the excerpt of a YAML parser. */
function reasonOf({ code, syscall, message }: NodeJS.ErrnoException): string {
  if (syscall === undefined) return message.split('\n')[0].replace(/:$/, '')
  return code === 'ENOENT' ? 'no such file (ENOENT)' : `cannot be read (${code})`
}

/** The text of a configuration file. Throws NewcutError BAD_CONFIG when it cannot be read. */
export function readConfigFile(path: string): string {
  return orBadConfig(path, () => readUserText(path))
}

function orBadConfig<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const message = `configuration file ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`
    throw new NewcutError('BAD_CONFIG', message, { cause: error })
  }
}

/** @returns the options of a text, with their values unchecked. Throws NewcutError BAD_CONFIG, which names `path`. */
export function parseConfigFile(path: string, text: string): RawOptions {
  const content: unknown = orBadConfig(path, () => fromYaml(text))
  if (content === null) return {}
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new NewcutError('BAD_CONFIG', `configuration file ${path}: expected lines of the form option: value`)
  }
  const known = knownNames()
  for (const name of Object.keys(content)) {
    if (!known.has(name)) {
      throw new NewcutError('BAD_CONFIG', `${path}, ${name}: no such option${closest(name, known)}`)
    }
  }
  return content as RawOptions
}

/** Throws errors and warnings of the parser. With a warning, such as an unknown tag, the value would be a guess. */
function fromYaml(text: string): unknown {
  const document = yaml().parseDocument(text)
  const [problem] = [...document.errors, ...document.warnings]
  if (problem !== undefined) throw problem
  return document.toJS()
}

/** The lines of a YAML file with the effective configuration. A comment names the origin of each value. */
export function configLines<Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  { values, origins }: Config<Table>,
): string[] {
  return Object.entries(table).flatMap(([name, entry]) => {
    const spec = entry as OptionSpec<unknown>
    // A file cannot set it.
    if (spec.isFlagOnly) return []
    const value = (values as Record<string, unknown>)[name]
    if (value === undefined) return `# ${name}: not set (${spec.help})`
    if (spec.isSecret) return `# ${name}: set, and not shown # ${origins.get(name)}`
    const text = yaml()
      .stringify({ [name]: spec.kind.format(value) }, { collectionStyle: 'flow', lineWidth: 0 })
      .trim()
      .replace(/^\{ (.*) \}$/, '$1')
    return `${text} # ${origins.get(name)}`
  })
}
