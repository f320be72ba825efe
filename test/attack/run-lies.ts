/** Makes a test of every lie of a table. */
import { afterAll, describe, it } from 'vitest'
import { lieForAWhile } from './attack.ts'
import { Lanes } from './lane.ts'
import { type Lie, sentence } from './lie.ts'

/** How long a miner may take to stop. */
export const STOP_MS = 2_000
/** Covers what a test waits for in turn; each wait has its own bound. */
export const TEST_TIMEOUT_MS = 150_000

/** Several at once: most of a lie is waiting. */
export function testLies(lies: readonly Lie[]): void {
  const lanes = new Lanes()
  afterAll(() => lanes.close())
  describe.concurrent('while a miner mines', () => {
    for (const lie of lies) {
      it(`${lie.title}: ${sentence[lie.property]}`, { timeout: TEST_TIMEOUT_MS }, () =>
        lanes.use((lane) => lieForAWhile(lane, lie)),
      )
    }
  })
}
