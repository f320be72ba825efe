import { afterAll, describe, it } from 'vitest'
import { expectSoon } from '../soon.ts'
import { lieForEver } from './attack.ts'
import { Lanes } from './lane.ts'
import type { Lie } from './lie.ts'
import { chainLies } from './lies/chains.ts'
import { everythingLies } from './lies/everything.ts'
import { solvedLies } from './lies/solved.ts'
import { updatesLies } from './lies/updates.ts'
import { workLies } from './lies/work.ts'
import { STOP_MS, TEST_TIMEOUT_MS } from './run-lies.ts'

/** Lies under which something is always under way: a stop must not wait for it. */
const lasting: readonly (readonly [readonly Lie[], readonly string[]])[] = [
  [workLies, ['work is never answered', 'work is answered with 404 without a body', 'work is replayed']],
  [workLies, ['work is answered byte by byte, a byte a second', 'work is answered with a body without end']],
  [solvedLies, ['a solution is never answered', 'a solution is answered with 503']],
  [solvedLies, ['a solution is thanked for with 204, and thrown away']],
  [updatesLies, ['update streams are never answered', 'update streams are answered with 503']],
  [updatesLies, ['update streams say New Cut all the time', 'update streams say a line without end']],
  [chainLies, ['the cut is never answered', 'blocks are never answered']],
  [everythingLies, ['nothing is answered', 'everything is answered with 404 and nothing']],
  [everythingLies, ['everything is answered by resetting the connection']],
]

const lanes = new Lanes()
afterAll(() => lanes.close())

describe.concurrent('until the miner is stopped', () => {
  for (const [table, titles] of lasting) {
    for (const title of titles) {
      it(`${title}: the miner stops within ${STOP_MS / 1000} s, with its summary`, { timeout: TEST_TIMEOUT_MS }, () => {
        const lie = table.find((each) => each.title === title)
        if (lie === undefined) throw new Error(`there is no lie ${title}`)
        return lanes.use((lane) => expectSoon(STOP_MS, () => lieForEver(lane, lie)))
      })
    }
  }
})
