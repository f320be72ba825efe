/** The money of a miner for works of several networks and payers. */
import { expect, it } from 'vitest'
import { encodeWork } from '../../src/ground/chain/header.ts'
import type { Network } from '../../src/ground/chain/network.ts'
import { development, mainnet01 } from '../../src/ground/chain/network-data.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { Earnings } from '../../src/mining/mine/earnings.ts'
import { Money } from '../../src/mining/mine/money.ts'
import type { SearchState } from '../../src/mining/mine/profit.ts'
import { step } from '../web/dashboard/common.ts'

const HASH = new Uint8Array(32)
const DIFFICULTY = 8.64e13

function workOf(network: Network, height: bigint) {
  const adjacents = new Map([1, 2, 3].map((chain) => [chain, HASH]))
  const bytes = encodeWork({
    ...{ featureFlags: 0n, creationTime: 1n, parent: HASH, adjacents, payloadHash: HASH, chainId: 0, weight: 0n },
    ...{ target: MAX_TARGET / BigInt(DIFFICULTY), height, version: network.code, epochStart: 0n, nonce: 0n },
  })
  return workFromBytes(bytes)
}

const searched = (parts: Partial<SearchState>): SearchState => {
  return { work: null, chains: 0, hashrate: 1e7, power: { watts: 150, unread: 0, problem: null }, ...parts }
}

const solo = () => new Money({ payer: 'chain', earnings: new Earnings() })

it('the profit takes reward and difficulty from the height and the target in the header', () => {
  const { profit } = solo().snapshot(searched({ work: workOf(development, 1n), chains: 20 }))
  expect(profit).toMatchObject({ payer: 'chain', hashrate: 1e7, reward: 23.04523 / 20, currency: null })
  expect((profit?.difficulty ?? 0) / DIFFICULTY).toBeCloseTo(1, 9)
  expect(profit?.coinsPerDay).toBeCloseTo((0.01 * 23.04523) / 20, 9)
})

it('the profit is 0 coins on a network of unknown rewards', () => {
  const money = new Money({ payer: 'chain', earnings: new Earnings(), rewardAt: () => null })
  expect(money.snapshot(searched({ work: workOf(development, 1n), chains: 20 }))).not.toHaveProperty('profit')
})

it('the profit divides the reward among the chains that the source knows', () => {
  const work = workOf(development, 1n)
  const rewards = [2, 20].map((chains) => solo().snapshot(searched({ work, chains })).profit?.reward)
  expect(rewards).toEqual([23.04523 / 2, 23.04523 / 20])
})

it('the profit knows the chains of a public network when the source does not, as with a pool', () => {
  const pool = new Money({ payer: 'pool', earnings: null })
  const shown = pool.snapshot(searched({ work: workOf(mainnet01, 900_000n) }))
  expect(shown).not.toHaveProperty('earnings')
  expect(shown.profit).toMatchObject({ payer: 'pool', reward: 22.38917 / 20 })
})

it('there is no profit before the first work, on a network of unknown size, or for genesis blocks', () => {
  expect(solo().snapshot(searched({}))).not.toHaveProperty('profit')
  expect(solo().snapshot(searched({ work: workOf(development, 1n) }))).not.toHaveProperty('profit')
  expect(solo().snapshot(searched({ work: workOf(development, 0n), chains: 2 }))).not.toHaveProperty('profit')
})

it('the profit keeps difficulty and reward of the latest work while there is none', () => {
  const money = solo()
  const { profit } = money.snapshot(searched({ work: workOf(development, 1n), chains: 2 }))
  expect(money.snapshot(searched({})).profit).toEqual(profit)
})

it('the profit has the prices that were set last, for income and for what was paid', () => {
  const earnings = new Earnings()
  const usd = { amount: 2, currency: 'USD' }
  const money = new Money({ payer: 'chain', earnings, prices: { coin: usd } })
  earnings.onEvent(step('a', { step: 'confirmed', depth: 1 }))
  earnings.onEvent({ type: 'reward', hash: 'a', chain: 0, height: 1, amount: '3' })
  const work = workOf(development, 1n)
  const before = money.snapshot(searched({ work, chains: 2 }))
  expect(before).toMatchObject({ profit: { coinPrice: 2, powerPrice: null }, earnings: { value: 6, currency: 'USD' } })
  money.setPrices({ power: { amount: 0.3, currency: 'EUR' } })
  const after = money.snapshot(searched({ work, chains: 2 }))
  expect(after).toMatchObject({ profit: { currency: 'EUR', coinPrice: null }, earnings: { value: null } })
  expect(after.profit?.powerCostPerDay).toBeCloseTo(1.08, 9)
})

it('the measured loss of own blocks lowers the coins', () => {
  const earnings = new Earnings()
  for (let i = 0; i < 20; i++)
    earnings.seed({ hash: `${i}`, state: i < 5 ? 'orphaned' : 'confirmed', reward: '1', fees: '0' })
  const work = workOf(development, 1n)
  const measured = new Money({ payer: 'chain', earnings }).snapshot(searched({ work, chains: 2 })).profit
  const ideal = solo().snapshot(searched({ work, chains: 2 })).profit
  expect(measured?.lostShare).toBe(0.25)
  expect((measured?.coinsPerDay ?? 0) / (ideal?.coinsPerDay ?? 1)).toBeCloseTo(0.75, 12)
})
