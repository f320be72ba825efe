/** Option values of a command with variables or a file: their names are checked against the options of all commands. */
import { describeError, fileProblem, operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { type Config, type RawOptions, resolveLayers } from './config.ts'
import { cliErrors } from './errors.ts'
import { flagWriter } from './flags.ts'
import type { ProcessEnvironment } from './line.ts'
import { flagsOfOptions } from './options/devnet.ts'
import { flagsOfForkOptions } from './options/fork.ts'
import { environmentName, negatedName, type OptionSpec } from './options/row.ts'
import { optionTables } from './options/table.ts'
import { parseYaml, yaml } from './yaml.ts'

const CONFIG_VARIABLE = 'NEWCUT_CONFIG'

/**
 * @returns the effective values of `table`.
 * @param flags option name -> text as typed
 * @param file the path of `--config`; by default that of NEWCUT_CONFIG.
 * @throws NewcutError BAD_OPTION or BAD_CONFIG
 */
export function resolveConfig<Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  flags: RawOptions,
  environment: ProcessEnvironment,
  file: string | undefined,
): Config<Table> {
  refuseUnknownVariables(environment)
  const path = file ?? environment[CONFIG_VARIABLE] ?? null
  const content = path === null ? {} : parseConfigFile(path, readConfigFile(path))
  return resolveLayers(table, { orders: {}, flags, environment, content, file: path })
}

/** Writes the flags of all commands into texts that name options as programs do. */
export const writeFlags = flagWriter(
  optionTables.flatMap((table) => Object.keys(table)),
  { ...flagsOfOptions, ...flagsOfForkOptions },
)

/** The names of all options of all commands: one file and one environment serve all commands. */
function knownNames(): Set<string> {
  const namesOf = (table: Readonly<Record<string, unknown>>) =>
    Object.entries(table).flatMap(([name, entry]) => {
      const spec = entry as OptionSpec<unknown>
      return spec.isFlagOnly ? [] : [name, negatedName(name, spec) ?? spec.plural ?? name]
    })
  return new Set(optionTables.flatMap(namesOf))
}

function refuseUnknownVariables(environment: ProcessEnvironment): void {
  const ours = Object.keys(environment).filter((variable) => variable.startsWith('NEWCUT_'))
  if (ours.length === 0) return
  const known = new Set([CONFIG_VARIABLE, ...Array.from(knownNames(), environmentName)])
  for (const variable of ours) {
    if (known.has(variable)) continue
    throw operatingError(cliErrors.unknownVariable, { variable, guess: suggestName(variable, known) })
  }
}

/**
 * The text of a configuration file.
 * @throws NewcutError BAD_CONFIG when it cannot be read
 */
export function readConfigFile(path: string): string {
  try {
    return readUserText(path)
  } catch (error) {
    throw operatingError(cliErrors.unreadableConfig, { file: path, why: fileProblem(error) }, error)
  }
}

/**
 * @returns the options of a text, with their values unchecked.
 * @throws NewcutError BAD_CONFIG, which names `path`
 */
export function parseConfigFile(path: string, text: string): RawOptions {
  const { document, problem } = parseYaml(text)
  if (problem !== null) throw operatingError(cliErrors.invalidConfig, { file: path, why: problem.reason })
  const content: unknown = toJs(document, path)
  if (content === null) return {}
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw operatingError(cliErrors.configForm, { file: path })
  }
  const known = knownNames()
  for (const name of Object.keys(content)) {
    if (!known.has(name)) {
      throw operatingError(cliErrors.unknownOptionInFile, { file: path, name, guess: suggestName(name, known) })
    }
  }
  return content as RawOptions
}

/**
 * The value of a document.
 * @throws NewcutError BAD_CONFIG for aliases that grow without end
 */
function toJs(document: ReturnType<typeof parseYaml>['document'], path: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw operatingError(cliErrors.invalidConfig, { file: path, why: describeError(error) }, error)
  }
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
