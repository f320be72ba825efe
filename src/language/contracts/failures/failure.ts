/** Makes failures of the tables: the source of the texts that live nodes and test files word differently. */
import { ContractError, type TextPlace } from '../errors.ts'
import type { FailureRow } from './row.ts'
import { FAILURES, type FailureKey } from './tables.ts'
import { fillWording, type WordingValue } from './wording.ts'

type NamesIn<T extends string> = T extends `${string}{${infer N}}${infer Rest}` ? PlainName<N> | NamesIn<Rest> : never
type PlainName<N extends string> = N extends `${infer Name}:${string}` ? Name : N
type TextsOf<N extends FailureKey> = (typeof FAILURES)[N] extends FailureRow<infer W, infer R> ? W | R : never
/** The values that a failure takes: every name in either wording. */
export type ValuesOf<N extends FailureKey> = { readonly [K in NamesIn<TextsOf<N>>]: WordingValue }

/**
 * Failure `name` of the tables, with its values in both wordings.
 * @param hint what would be right, or a function that finds it when the text is read; test files show it after the wording
 */
export function failure<N extends FailureKey>(
  name: N,
  values: ValuesOf<N>,
  place: TextPlace | null = null,
  hint: string | (() => string) = '',
): ContractError {
  const { kind, wire, runner }: FailureRow = FAILURES[name]
  return new ContractError(
    kind,
    () => withHint(fillWording(runner, values), typeof hint === 'string' ? hint : hint()),
    place,
    () => fillWording(wire, values),
  )
}

function withHint(text: string, hint: string): string {
  return hint === '' ? text : `${text} (${hint})`
}
