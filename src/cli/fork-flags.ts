/** The options of forks as flags of a command without a table. */
import type { Option } from 'commander'
import { once, RowOption } from './flags.ts'
import { forkOptions } from './options/fork.ts'
import { defaultText, type OptionSpec, optionGroups, type Values } from './options/row.ts'
import { valueIn } from './values.ts'

type ForkValues = Values<typeof forkOptions>

/** The flags of these options for a command without a table. */
export function forkFlags(): Option[] {
  return Object.entries(forkOptions as Readonly<Record<string, OptionSpec<unknown>>>).map(([name, spec]) => {
    const texts = { help: spec.help, more: spec.more, standard: defaultText(spec) }
    const isCommon = name === 'fork'
    const isRepeatable = spec.kind.isList === true
    const flag = new RowOption(`--${name} <${spec.placeholder}>`, texts, { isCommon, isRepeatable })
    flag.helpGroup(optionGroups.fork)
    return isRepeatable
      ? flag.argParser((value, before: unknown) => [...((before as string[]) ?? []), value])
      : flag.argParser(once(name))
  })
}

/** Reads these options from flags. Throws NewcutError BAD_OPTION. @param flags by camel-case name */
export function forkValues(flags: Readonly<Record<string, unknown>>): ForkValues {
  const values: Record<string, unknown> = {}
  for (const [name, { kind, fallback }] of Object.entries(
    forkOptions as Readonly<Record<string, OptionSpec<unknown>>>,
  )) {
    const raw = flags[name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())] ?? flags[name]
    values[name] = raw === undefined ? fallback : valueIn(kind, raw, `--${name}`)
  }
  return values as ForkValues
}
