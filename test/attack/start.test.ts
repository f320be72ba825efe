import { afterAll, describe, it } from 'vitest'
import { expectSoon } from '../soon.ts'
import { lieAtStart } from './attack.ts'
import { Lanes } from './lane.ts'
import { startSentence } from './lie.ts'
import { slowStartLies, startLies, textLies } from './lies/start.ts'
import { isLeftOut, STOP_MS, TEST_TIMEOUT_MS } from './run-lies.ts'

const lanes = new Lanes()
afterAll(() => lanes.close())

describe.concurrent('from the first request on', () => {
  for (const [index, lie] of [...slowStartLies, ...startLies, ...textLies].entries()) {
    it.skipIf(isLeftOut(index))(`${lie.title}: ${startSentence[lie.property.kind]}`, { timeout: TEST_TIMEOUT_MS }, () =>
      lanes.use((lane) => expectSoon(STOP_MS, () => lieAtStart(lane, lie))),
    )
  }
})
