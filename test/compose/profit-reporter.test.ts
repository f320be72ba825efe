import { expect, it } from 'vitest'
import { profitReporter } from '../../src/compose/miner.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import { NO_RATES } from '../../src/mining/mine/hashrate.ts'
import { type Prices, profitOf } from '../../src/mining/mine/profit.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const usd = (amount: number) => ({ amount, currency: 'USD' })
const prices: Prices = { coin: usd(0.02), power: usd(0.3) }

function speedWith(stated: Prices, rate: number | null = 1e7): MinerEvent {
  const profit = profitOf({
    ...{ hashrate: 1e7, difficulty: 8.64e13, reward: 1.2, payer: 'chain', prices: stated },
    lossAndFees: { lostShare: null, feeShare: null },
    power: { watts: 150, unread: 0, problem: null },
  })
  return { type: 'speed', snapshot: snapshotWith({ profit, hashrates: { ...NO_RATES, '10s': rate } }) }
}

function toldOf(...events: readonly MinerEvent[]) {
  const told: MinerEvent[] = []
  const take = profitReporter((event) => told.push(event))
  for (const event of events) take(event)
  return told
}

it('the miner reports the profit once, with the first known hashrate', () => {
  const [told, ...more] = toldOf(speedWith(prices, null), speedWith(prices, 0), speedWith(prices), speedWith(prices))
  expect(told).toMatchObject({ type: 'profit', profit: { coinPrice: 0.02, powerPrice: 0.3 } })
  expect(more).toEqual([])
})

it('the miner reports the profit again after a change of prices', () => {
  const dearer = { ...prices, coin: usd(0.03) }
  expect(toldOf(speedWith(prices), speedWith(dearer), speedWith(dearer))).toHaveLength(2)
})

it('the miner reports no profit without prices, without work, and at other events', () => {
  const withoutWork: MinerEvent = { type: 'speed', snapshot: snapshotWith({ hashrates: { ...NO_RATES, '10s': 1 } }) }
  expect(toldOf(speedWith({}), withoutWork, { type: 'idle' })).toEqual([])
})
