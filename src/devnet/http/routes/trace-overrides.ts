/** Reads the overrides of `POST /devnet/trace`. */

import type { TraceOverrides } from '#ground/schema/trace.ts'
import type { Static } from '#ground/schema/typebox.ts'
import type { LayerEntry, ReadableState } from '#language/contracts/machine/state.ts'
import type { ObjectValue } from '#language/contracts/values/value.ts'
import type { Overrides } from '../../execution/overrides.ts'
import { findTable } from '../../ledger/find-table.ts'
import { expectComplete, InvalidRow, isoTime, rowFromJson } from '../../ledger/row-json.ts'
import { RequestRefused } from '../refusal.ts'

/**
 * Reads overrides by the tables in a state.
 * @throws RequestRefused if a row does not fit its table, or the time is none
 */
export function overridesIn(state: ReadableState, given: Static<typeof TraceOverrides>): Overrides {
  const { rows = {}, time, keys = [] } = given
  try {
    const entries = Object.entries(rows).flatMap(([table, byKey]) => rowsIn(state, table, byKey))
    return { rows: entries, time: time === undefined ? null : timeOf(time), keys }
  } catch (error) {
    if (error instanceof InvalidRow) throw new RequestRefused(400, error.message)
    throw error
  }
}

/** Other fields of an existing row stay. */
function rowsIn(state: ReadableState, name: string, byKey: Readonly<Record<string, unknown>>): LayerEntry[] {
  const at = '/overrides/rows'
  const table = findTable(state, name, at)
  if (state.get('tables', table.qualified) === undefined) throw new InvalidRow(`${at}: ${name} was not created`)
  return Object.entries(byKey).map(([key, fields]) => {
    const place = `${at}/${name}/${key}`
    const row = rowFromJson(table, fields as Readonly<Record<string, unknown>>, place)
    const before = state.get<ObjectValue>(table.rows, key)
    if (before === undefined) expectComplete(table, row, place)
    return { domain: table.rows, key, value: new Map([...(before ?? []), ...row]) }
  })
}

function timeOf(text: string): bigint {
  const time = isoTime(text)
  if (time !== null) return time.micros
  throw new InvalidRow(`/overrides/time: ${JSON.stringify(text)} is not a time such as 2027-01-01T00:00:00Z`)
}
