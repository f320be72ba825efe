/** Income and cost by values that are computed by hand. */
import { expect, it } from 'vitest'
import { type ProfitBasis, profitOf } from '../../src/mining/mine/profit.ts'

const usd = (amount: number) => ({ amount, currency: 'USD' })

/** 10 MH/s at 8.64e13 hashes a block: 0.01 blocks a day of 1.2 coins. 150 W are 3.6 kWh a day. */
const basis: ProfitBasis = {
  ...{ hashrate: 1e7, difficulty: 8.64e13, reward: 1.2, payer: 'chain' },
  lossAndFees: { lostShare: null, feeShare: null },
  power: { watts: 150, unread: 0, problem: null },
  prices: { coin: usd(0.02), power: usd(0.3) },
}

it('coins a day are hashrate x 86,400 x reward / difficulty', () => {
  expect(profitOf(basis).coinsPerDay).toBeCloseTo(0.012, 12)
  expect(profitOf({ ...basis, hashrate: 2e7 }).coinsPerDay).toBeCloseTo(0.024, 12)
  expect(profitOf({ ...basis, difficulty: 4.32e13 }).coinsPerDay).toBeCloseTo(0.024, 12)
  expect(profitOf({ ...basis, reward: 0.6 }).coinsPerDay).toBeCloseTo(0.006, 12)
  expect(profitOf({ ...basis, hashrate: 0 }).coinsPerDay).toBe(0)
  expect(profitOf({ ...basis, difficulty: 0 }).coinsPerDay).toBe(0)
})

it('measured fees add to the coins, and lost blocks take from them', () => {
  expect(profitOf({ ...basis, lossAndFees: { lostShare: 0.25, feeShare: null } }).coinsPerDay).toBeCloseTo(0.009, 12)
  expect(profitOf({ ...basis, lossAndFees: { lostShare: null, feeShare: 0.5 } }).coinsPerDay).toBeCloseTo(0.018, 12)
  const both = profitOf({ ...basis, lossAndFees: { lostShare: 0.25, feeShare: 0.5 } })
  expect(both).toMatchObject({ lostShare: 0.25, feeShare: 0.5 })
  expect(both.coinsPerDay).toBeCloseTo(0.0135, 12)
})

it('the profit has income, cost, their difference and both break-even prices', () => {
  const profit = profitOf(basis)
  expect(profit.incomePerDay).toBeCloseTo(0.00024, 12)
  expect(profit.powerCostPerDay).toBeCloseTo(1.08, 12)
  expect(profit.profitPerDay).toBeCloseTo(-1.07976, 12)
  expect(profit.breakEvenCoinPrice).toBeCloseTo(90, 9)
  expect(profit.breakEvenPowerPrice).toBeCloseTo(0.00024 / 3.6, 12)
  expect(profit).toMatchObject({ currency: 'USD', coinPrice: 0.02, powerPrice: 0.3, watts: 150, unreadDevices: 0 })
})

it('the result is 0 at the break-even price of a coin or of power', () => {
  const { breakEvenCoinPrice, breakEvenPowerPrice } = profitOf(basis)
  const dearer = { coin: usd(breakEvenCoinPrice ?? 0), power: usd(0.3) }
  expect(profitOf({ ...basis, prices: dearer }).profitPerDay).toBeCloseTo(0, 9)
  const cheaper = { coin: usd(0.02), power: usd(breakEvenPowerPrice ?? 0) }
  expect(profitOf({ ...basis, prices: cheaper }).profitPerDay).toBeCloseTo(0, 9)
})

it('the profit leaves out everything that depends on an unknown price or on unknown power', () => {
  expect(profitOf({ ...basis, prices: {} })).toMatchObject({
    ...{ currency: null, coinPrice: null, powerPrice: null, incomePerDay: null, powerCostPerDay: null },
    ...{ profitPerDay: null, breakEvenCoinPrice: null, breakEvenPowerPrice: null },
  })
  const onlyCoin = profitOf({ ...basis, prices: { coin: usd(0.02) } })
  expect(onlyCoin).toMatchObject({ powerCostPerDay: null, profitPerDay: null, breakEvenCoinPrice: null })
  expect(onlyCoin.breakEvenPowerPrice).toBeCloseTo(0.00024 / 3.6, 12)
  const onlyPower = profitOf({ ...basis, prices: { power: usd(0.3) } })
  expect(onlyPower).toMatchObject({
    currency: 'USD',
    incomePerDay: null,
    profitPerDay: null,
    breakEvenPowerPrice: null,
  })
  expect(onlyPower.breakEvenCoinPrice).toBeCloseTo(90, 9)
  const problem = 'the counter may not be read'
  const dark = profitOf({ ...basis, power: { watts: null, unread: 1, problem } })
  expect(dark).toMatchObject({ powerCostPerDay: null, profitPerDay: null, breakEvenCoinPrice: null })
  expect(dark).toMatchObject({ breakEvenPowerPrice: null, unreadDevices: 1, powerProblem: problem })
  expect(dark.incomePerDay).toBeCloseTo(0.00024, 12)
})

it('no price breaks even without coins or without power', () => {
  expect(profitOf({ ...basis, hashrate: 0 }).breakEvenCoinPrice).toBeNull()
  const free = profitOf({ ...basis, power: { watts: 0, unread: 0, problem: null } })
  expect(free).toMatchObject({ powerCostPerDay: 0, breakEvenPowerPrice: null })
})
