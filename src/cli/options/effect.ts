/** Refuses flags that would have no effect: the user expects one. */
import { NewcutError } from '../../base/errors.ts'
import type { Config } from '../config.ts'
import { type Given, needs, type Reason } from './needs.ts'
import type { OptionFacts } from './row.ts'

type Typed = Pick<Config<unknown>, 'origins'> & { readonly values: object }

/**
 * Throws NewcutError BAD_OPTION for the first typed flag whose needs are not met. A file or the environment may set such
 * an option, because they serve several commands.
 */
export function refuseWithoutEffect(table: Readonly<Record<string, OptionFacts>>, config: Typed): void {
  for (const [name, row] of Object.entries(table)) {
    for (const need of row.needs ?? []) refuseFlag(config, name, needs[need](config.values as Given))
  }
}

/** Throws NewcutError BAD_OPTION if the flag was typed and has no effect for the reason `why`. */
export function refuseFlag({ values, origins }: Typed, name: string, why: Reason | null): void {
  if (why === null || origins.get(name) !== 'flag') return
  const flag = (values as Readonly<Record<string, unknown>>)[name] === false ? `--no-${name}` : `--${name}`
  throw new NewcutError('BAD_OPTION', `${flag} has no effect: ${why.reason}`, { hint: why.hint })
}
