import { afterAll, describe, it } from 'vitest'
import { lieForAWhile } from './attack.ts'
import { Lanes } from './lane.ts'
import { sentence } from './lie.ts'
import { workLies } from './lies/work.ts'

const lanes = new Lanes()
afterAll(() => lanes.close())

describe.concurrent('while a miner mines', () => {
  for (const lie of workLies) {
    it(`${lie.title}: ${sentence[lie.property]}`, { timeout: 120_000 }, () =>
      lanes.use((lane) => lieForAWhile(lane, lie)),
    )
  }
})
