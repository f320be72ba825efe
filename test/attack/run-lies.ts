/** Makes a test of every lie of a table. */
import { afterAll, describe, it } from 'vitest'
import { lieForAWhile } from './attack.ts'
import { Lanes } from './lane.ts'
import { type Lie, sentence } from './lie.ts'

/** How long a miner may take to stop. */
export const STOP_MS = 2_000
/** Covers what a test waits for in turn; each wait has its own bound. */
export const TEST_TIMEOUT_MS = 300_000
/** All lies take six minutes: where CI is set, every fourth of a table is told, and the others are shown as skipped. */
const SHORT_FORM_SHARE = 4
const isShortForm = Boolean(process.env.CI)
if (isShortForm) process.stderr.write(`attack: every ${SHORT_FORM_SHARE}th lie, since CI is set; npm test tells all\n`)

/** Whether the lie at this place of its table is left out. */
export function isLeftOut(index: number): boolean {
  return isShortForm && index % SHORT_FORM_SHARE !== 0
}

/** Several at once: most of a lie is waiting. */
export function testLies(lies: readonly Lie[]): void {
  const lanes = new Lanes()
  afterAll(() => lanes.close())
  describe.concurrent('while a miner mines', () => {
    for (const [index, lie] of lies.entries()) {
      it.skipIf(isLeftOut(index))(`${lie.title}: ${sentence[lie.property]}`, { timeout: TEST_TIMEOUT_MS }, () =>
        lanes.use((lane) => lieForAWhile(lane, lie)),
      )
    }
  })
}
