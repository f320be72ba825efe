/** Rows that a command finds instead of those of its chain, from JSON. */
import type { Domain, ReadableState } from '#language/contracts/machine/state.ts'
import type { ObjectValue, Value } from '#language/contracts/values/value.ts'
import { findTable } from './find-table.ts'
import { expectComplete, InvalidRow, rowFromJson } from './row-json.ts'

/** A row to replace; `value` is null for a row to hide. */
export interface RowOverride {
  readonly domain: Domain
  readonly key: string
  readonly value: ReadonlyMap<string, Value> | null
}

/**
 * Reads rows of a table, by key. Other fields of an existing row stay.
 * @param at place in the request
 * @throws InvalidRow if there is no such table, or a row does not fit it
 */
export function readRowOverrides(
  state: ReadableState,
  name: string,
  byKey: Readonly<Record<string, unknown>>,
  at: string,
): RowOverride[] {
  const table = findTable(state, name, at)
  if (state.get('tables', table.qualified) === undefined) throw new InvalidRow(`${at}: ${name} was not created`)
  return Object.entries(byKey).map(([key, fields]) => {
    if (fields === null) return { domain: table.rows, key, value: null }
    const place = `${at}/${name}/${key}`
    const row = rowFromJson(table, fields as Readonly<Record<string, unknown>>, place)
    const before = state.get<ObjectValue>(table.rows, key)
    if (before === undefined) expectComplete(table, row, place)
    return { domain: table.rows, key, value: new Map([...(before ?? []), ...row]) }
  })
}
