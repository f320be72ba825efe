/** Makes the flags of a command from its option table, and reads those that were typed. */
import { type Command, Option } from 'commander'
import { operatingError } from '#ground/base/errors.ts'
import { cliErrors } from './errors.ts'
import { defaultText, flagHelpOf, type OptionSpec, optionGroups } from './options/row.ts'

export type OptionTable = Readonly<Record<string, unknown>>

/** The texts of a flag. */
interface FlagTexts {
  readonly help: string
  /** Sentences that follow it in `--help-all` and in the documents. */
  readonly more?: string | undefined
  /** The default in words, or null if there is none to show. */
  readonly standard?: string | null
}

/** A flag that knows its details. */
export class RowOption extends Option {
  readonly more: string | undefined
  readonly standard: string | null
  readonly isRepeatable: boolean
  /** Whether `--help` shows it; `--help-all` shows every option. */
  readonly isCommon: boolean

  constructor(
    flags: string,
    { help, more, standard = null }: FlagTexts,
    { isRepeatable = false, isCommon = true } = {},
  ) {
    super(flags, help)
    this.more = more
    this.standard = standard
    this.isRepeatable = isRepeatable
    this.isCommon = isCommon
  }
}

/** How a command shows and reads its flags. */
interface FlagStyle {
  /** The options that help shows; all if left out. */
  readonly common?: readonly string[] | undefined
  /** Whether flags take several values at once. An argument behind such a flag would become one of them. */
  readonly takesSeveral: boolean
}

/** Gives a command one flag for each option of the table. */
export function addOptions(command: Command, table: OptionTable, { common, takesSeveral }: FlagStyle): void {
  for (const [name, entry] of Object.entries(table)) {
    const flag = flagOf(name, entry as OptionSpec<unknown>, common?.includes(name) ?? true, takesSeveral)
    command.addOption(flag)
  }
}

function flagOf(name: string, spec: OptionSpec<unknown>, isCommon: boolean, takesSeveral: boolean): Option {
  const { kind, fallback, placeholder, group, isSecret, short } = spec
  const isList = kind.isList === true
  const values = isList && takesSeveral ? '...' : ''
  const negation = placeholder === null && fallback === true ? 'no-' : ''
  const value = placeholder === null ? '' : ` <${placeholder}${values}>`
  const texts = { ...flagHelpOf(spec), standard: defaultText(spec) }
  const names = `${short === undefined ? '' : `${short}, `}--${negation}${name}`
  const flag = new RowOption(`${names}${value}`, texts, { isRepeatable: isList, isCommon })
  if (group !== undefined) flag.helpGroup(optionGroups[group])
  if (kind.isCount) return flag.argParser((_, before: number | undefined) => (before ?? 0) + 1)
  if (placeholder === null) return flag
  if (kind.completions !== undefined) flag.choices(kind.completions)
  // The parser replaces the check of `choices`: config.ts checks values from all sources.
  return isList ? flag.argParser(collectValues) : flag.argParser(singleValue(name, isSecret))
}

/** @returns all values of a repeated flag, in their order. */
function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/**
 * An option as texts below the command line name it, in backticks: `stateFile`, `fork.cut`, `pow: false` or `ca: FILE`.
 */
const NAMED_OPTION = /`([a-z][\w.-]*)(?:: ([^`]+))?`/g

/** Writes a text for users of a command. */
export type FlagWriter = (text: string) => string

/**
 * Texts below the command line name options as programs do. For users of a command they name its flags.
 * @param names options of the command; other words in backticks stay as they are
 * @param renamed option of programs -> option of the command, where the words differ
 */
export function flagWriter(names: Iterable<string>, renamed: Readonly<Record<string, string>> = {}): FlagWriter {
  const known = new Set(names)
  return (text) =>
    text.replaceAll(NAMED_OPTION, (written, option: string, value?: string) => {
      const name = Object.hasOwn(renamed, option) ? renamed[option] : flagName(option)
      if (!known.has(name)) return written
      if (value === 'false') return `--no-${name}`
      return value === undefined || value === 'true' ? `--${name}` : `--${name} ${value}`
    })
}

/** `fork-table-rows` for `fork.tableRows`. */
const flagName = (option: string) =>
  option.replaceAll('.', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/**
 * Parser of a flag with one value.
 * @throws NewcutError BAD_OPTION for a second value, which would silently win
 */
export function singleValue(name: string, isSecret = false): (value: string, before: string | undefined) => string {
  return (value, before) => {
    if (before === undefined) return value
    const values = isSecret ? '' : `: ${before} and ${value}`
    throw operatingError(cliErrors.givenTwice, { name, values })
  }
}

/** @returns the typed flags by option name: `block-delay`, not `blockDelay`. */
export function namedFlags(command: Command): Record<string, unknown> {
  const flags: Record<string, unknown> = {}
  for (const option of command.options) {
    const attribute = option.attributeName()
    if (command.getOptionValueSource(attribute) !== 'cli') continue
    flags[option.name().replace(/^no-/, '')] = command.getOptionValue(attribute)
  }
  return flags
}
