/** Flags of a command from its option table, and what was typed. */
import { type Command, Option } from 'commander'
import { NewcutError } from '../core/errors.ts'
import { type OptionSpec, optionGroups } from './options/row.ts'

export type OptionTable = Readonly<Record<string, unknown>>

/** Gives a command one flag for each option of the table. */
export function addOptions(command: Command, table: OptionTable): void {
  for (const [name, entry] of Object.entries(table)) {
    const spec = entry as OptionSpec<unknown>
    const flag = flagOf(command, name, spec)
    command.addOption(spec.group === undefined ? flag : flag.helpGroup(`${optionGroups[spec.group]}:`))
  }
}

function flagOf(command: Command, name: string, spec: OptionSpec<unknown>): Option {
  const { kind, fallback, placeholder, help, isSecret } = spec
  if (placeholder === null) return new Option(`--${fallback === true ? 'no-' : ''}${name}`, help)
  const standard = fallback === undefined ? '' : ` (default: ${kind.format(fallback)})`
  // Where arguments follow, one flag with many values would take those too.
  const values = kind.isList && command.registeredArguments.length === 0 ? '...' : ''
  const flag = new Option(`--${name} <${placeholder}${values}>`, help + standard)
  if (kind.likely !== undefined) flag.choices(kind.likely)
  // This takes the place of the check for these choices: config.ts checks values, wherever they come from.
  return kind.isList ? flag.argParser(several) : flag.argParser(once(name, isSecret))
}

/** For flags that may be repeated: all values, in their order. */
function several(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** For flags with one value: without this the last of two would win silently. Throws NewcutError BAD_OPTION. */
export function once(name: string, isSecret = false): (value: string, before: string | undefined) => string {
  return (value, before) => {
    if (before === undefined) return value
    const values = isSecret ? '' : `: ${before} and ${value}`
    throw new NewcutError('BAD_OPTION', `--${name} is given twice${values}`, { hint: 'give it once' })
  }
}

/** Flags that were typed, by option name: `block-delay`, not `blockDelay`. */
export function namedFlags(command: Command): Record<string, unknown> {
  const flags: Record<string, unknown> = {}
  for (const option of command.options) {
    const attribute = option.attributeName()
    if (command.getOptionValueSource(attribute) !== 'cli') continue
    flags[option.name().replace(/^no-/, '')] = command.getOptionValue(attribute)
  }
  return flags
}
