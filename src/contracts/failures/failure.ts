/** Makes failures of the tables: the only source of texts that live nodes and test files share. */
import { ContractError, type TextPlace } from '../errors.ts'
import { DATABASE_FAILURES } from './database.ts'
import { LOAD_FAILURES } from './loading.ts'
import { PACT_FAILURES } from './pacts.ts'
import type { FailureRow } from './row.ts'
import { RUN_FAILURES } from './running.ts'

/** All failures, by name. */
export const FAILURES = { ...LOAD_FAILURES, ...RUN_FAILURES, ...DATABASE_FAILURES, ...PACT_FAILURES }

export type FailureName = keyof typeof FAILURES

/** A value of a text, or a function that shows it only when the text is read. */
export type Shown = string | number | bigint | boolean | (() => string)

type NamesIn<T extends string> = T extends `${string}{${infer N}}${infer Rest}` ? Bare<N> | NamesIn<Rest> : never
type Bare<N extends string> = N extends `${infer Name}:${string}` ? Name : N
type TextsOf<N extends FailureName> = (typeof FAILURES)[N] extends FailureRow<infer W, infer R> ? W | R : never
/** The values that a failure takes: every name in either wording. */
export type ValuesOf<N extends FailureName> = { readonly [K in NamesIn<TextsOf<N>>]: Shown }

const PLACEHOLDER = /\{([a-z]\w*)(?::(\d+))?\}/gi

/** Failure `name` of the tables, with its values in both wordings. */
export function failure<N extends FailureName>(
  name: N,
  values: ValuesOf<N>,
  place: TextPlace | null = null,
): ContractError {
  const { kind, wire, runner }: FailureRow = FAILURES[name]
  const shown = values as Readonly<Record<string, Shown>>
  return new ContractError(
    kind,
    () => filled(runner, shown),
    place,
    () => filled(wire, shown),
  )
}

/** Fills the placeholders of a wording. */
function filled(template: string, values: Readonly<Record<string, Shown>>): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string, most: string | undefined) => {
    const value = values[name]
    const text = typeof value === 'function' ? value() : String(value)
    return most === undefined ? text : abbreviated(text, Number(most))
  })
}

/** Cuts a text to `most` characters, and marks the cut with `...`. */
export function abbreviated(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most).join('')}...`
}
