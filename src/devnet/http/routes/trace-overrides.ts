/** Reads the overrides of `POST /devnet/trace`. */
import type { ReadableState } from '../../../contracts/machine/state.ts'
import type { ExactJson } from '../../../core/json.ts'
import type { TraceOverrides } from '../../../schema/trace.ts'
import type { Static } from '../../../schema/typebox.ts'
import type { Overrides } from '../../execution/overrides.ts'
import { givenRow, RowFault, timeIn } from '../../ledger/given-row.ts'
import { RequestRefused } from '../refusal.ts'

/**
 * Reads overrides by the tables in a state.
 * @throws RequestRefused if a row does not fit its table, or the time is none
 */
export function overridesIn(state: ReadableState, given: Static<typeof TraceOverrides>): Overrides {
  const { rows = {}, time, keys = [] } = given
  const entries = Object.entries(rows).flatMap(([table, byKey]) => {
    return Object.entries(byKey).map(([key, fields]) => ({ table, key, fields: fields as ExactJson }))
  })
  return { rows: entries.map((entry) => rowIn(state, entry)), time: time === undefined ? null : timeOf(time), keys }
}

function rowIn(state: ReadableState, entry: Parameters<typeof givenRow>[1]) {
  try {
    return givenRow(state, entry)
  } catch (error) {
    if (error instanceof RowFault) throw new RequestRefused(400, `overrides: ${error.message}`)
    throw error
  }
}

function timeOf(text: string): bigint {
  const time = timeIn(text)
  if (time !== null) return time.micros
  throw new RequestRefused(400, `overrides: time ${JSON.stringify(text)}: no time such as 2027-01-01T00:00:00Z`)
}
