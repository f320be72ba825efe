/** Reads the overrides of `POST /devnet/trace`. */

import type { TraceOverrides } from '#ground/schema/trace.ts'
import type { Static } from '#ground/schema/typebox.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { Overrides } from '../../execution/overrides.ts'
import { InvalidRow, isoTime } from '../../ledger/row-json.ts'
import { readRowOverrides } from '../../ledger/row-overrides.ts'
import { RequestRefused } from '../refusal.ts'

/**
 * Reads overrides by the tables in a state.
 * @throws RequestRefused if a row does not fit its table, or the time is none
 */
export function overridesIn(state: ReadableState, given: Static<typeof TraceOverrides>): Overrides {
  const { rows = {}, time, keys = [] } = given
  try {
    const entries = Object.entries(rows).flatMap(([table, byKey]) => {
      return readRowOverrides(state, table, byKey, '/overrides/rows')
    })
    return { rows: entries, time: time === undefined ? null : timeOf(time), keys }
  } catch (error) {
    if (error instanceof InvalidRow) throw new RequestRefused(400, error.message)
    throw error
  }
}

function timeOf(text: string): bigint {
  const time = isoTime(text)
  if (time !== null) return time.micros
  throw new InvalidRow(`/overrides/time: ${JSON.stringify(text)} is not a time such as 2027-01-01T00:00:00Z`)
}
