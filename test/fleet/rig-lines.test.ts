/** The list of rigs that `newcut fleet` prints. */
import { expect, it } from 'vitest'
import { rigLines } from '../../src/commands/fleet.ts'
import { MemberTable } from '../../src/mining/engine/fleet/member-table.ts'
import type { MemberReport } from '../../src/mining/fleet/messages.ts'

function rig(name: string, energy?: MemberReport['energy']): MemberReport {
  return {
    rig: name,
    session: name,
    version: '1.0',
    state: 'searching',
    reason: null,
    hashes: 9,
    rate: 2e6,
    accepted: 3,
    refused: 1,
    lease: null,
    seen: null,
    ...(energy && { energy }),
  }
}

function linesOf(...reports: MemberReport[]): readonly string[] {
  const table = new MemberTable(() => 0.5)
  for (const each of reports) table.report(each, 0)
  return rigLines(table.rows(0, 10, 0))
}

it('the list of rigs has the power of each rig that reads all its devices', () => {
  const whole = { watts: 211.6, joules: 5, hashrate: 2e6, unread: 0 }
  expect(linesOf(rig('a', whole), rig('b', { ...whole, unread: 1 }), rig('c'))).toEqual([
    'rig  state           rate  power  blocks  version',
    'a    searching  2.00 MH/s  212 W     3/1  1.0',
    'b    searching  2.00 MH/s    n/a     3/1  1.0',
    'c    searching  2.00 MH/s    n/a     3/1  1.0',
  ])
})

it('the list of rigs has no column of power if no rig reads it', () => {
  expect(linesOf(rig('a'), rig('b', { watts: null, joules: null, hashrate: null, unread: 0 }))[0]).toBe(
    'rig  state           rate  blocks  version',
  )
})
