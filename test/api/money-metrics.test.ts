import { expect, it } from 'vitest'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { type EarningsSnapshot, type Prices, profitOf } from '../../src/mining/mine/profit.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const price = (amount: number, currency = 'USD') => ({ amount, currency })
const profitWith = (prices: Prices, watts: number | null = 150) =>
  profitOf({
    ...{ hashrate: 1e7, difficulty: 8.64e13, reward: 1.2, payer: 'chain', prices },
    lossAndFees: { lostShare: null, feeShare: null },
    power: { watts, unread: 0, problem: null },
  })
const earnings: EarningsSnapshot = {
  run: { blocks: 1, coins: '1.5', fees: '0' },
  total: { blocks: 3, coins: '4.75', fees: '0.25' },
  ...{ unknownBlocks: 1, lostBlocks: 0, value: 9.5, currency: 'USD' },
}

/** The money in a scrape: name and labels -> value. */
async function scraped(metrics: Metrics): Promise<Record<string, number>> {
  const lines =
    (await metrics.scrape()).match(/^newcut_(?:paid|unknown|coins|income|power_cost|profit|break).*$/gm) ?? []
  return Object.fromEntries(lines.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]))
}

it('the money metrics show payments, income, cost and break-even prices with their currency', async () => {
  const profit = profitWith({ coin: price(2), power: price(0.3) })
  const found = await scraped(new Metrics(() => snapshotWith({ profit, earnings }), '0'))
  expect(found).toEqual({
    ...{ newcut_paid_blocks: 3, newcut_unknown_reward_blocks: 1, newcut_paid_coins: 4.75, newcut_paid_fee_coins: 0.25 },
    'newcut_paid_value{currency="USD"}': 9.5,
    newcut_coins_per_day: profit.coinsPerDay,
    'newcut_income_per_day{currency="USD"}': profit.incomePerDay,
    'newcut_power_cost_per_day{currency="USD"}': profit.powerCostPerDay,
    'newcut_profit_per_day{currency="USD"}': profit.profitPerDay,
    'newcut_break_even_coin_price{currency="USD"}': profit.breakEvenCoinPrice,
    'newcut_break_even_power_price{currency="USD"}': profit.breakEvenPowerPrice,
  })
})

it('the money metrics have no series for unknown figures or a previous currency', async () => {
  let parts: Partial<Snapshot> = { profit: profitWith({ coin: price(2), power: price(0.3) }), earnings }
  const metrics = new Metrics(() => snapshotWith(parts), '0')
  await scraped(metrics)
  parts = { profit: profitWith({ power: price(0.3, 'EUR') }), earnings: { ...earnings, value: null, currency: null } }
  expect(Object.keys(await scraped(metrics)).filter((name) => name.includes('currency'))).toEqual([
    'newcut_power_cost_per_day{currency="EUR"}',
    'newcut_break_even_coin_price{currency="EUR"}',
  ])
  parts = {}
  expect(await scraped(metrics)).toEqual({})
})
