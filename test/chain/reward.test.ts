/** Expected rewards against rows of the public network's table (rewards/miner_rewards.csv of chainweb-node). */
import { expect, it } from 'vitest'
import { expectedReward, publicChainsAt, rewardUnitsAt } from '../../src/ground/chain/reward.ts'

const ENTRY = 87_600

it('the miner reward equals the table for five years, at both ends of every entry, divided among the chains', () => {
  for (let entry = 0; entry < 60; entry++) {
    for (const height of [entry * ENTRY + 1, (entry + 1) * ENTRY].map(BigInt)) {
      expect(expectedReward(height, 20)).toBeCloseTo(Number(rewardUnitsAt(height)) / 1e5 / 20, 12)
    }
  }
  expect(expectedReward(87_600n, 20)).toBeCloseTo(23.04523 / 20, 12)
  expect(expectedReward(87_601n, 10)).toBeCloseTo(22.97878 / 10, 12)
})

it.each([
  [5_256_001, 19.37865],
  [6_307_200, 18.77268],
  [10_512_000, 16.34257],
  [21_024_000, 11.556],
  [31_536_000, 8.17135],
  [42_048_000, 5.77809],
  [52_560_000, 4.08575],
  [63_072_000, 2.88912],
])(
  'the miner reward differs by less than 0.1 %% from the table at height %i, whose entry is %d coins',
  (height, coins) => {
    expect(Math.abs(expectedReward(BigInt(height), 1) / coins - 1)).toBeLessThan(0.001)
  },
)

it('a genesis block has no reward', () => {
  for (const height of [0n, -1n]) expect(() => expectedReward(height, 1)).toThrow(RangeError)
})

it('the chains of a public network are those of its graph at the height; others are unknown', () => {
  const mainnet = 5
  expect([852_053n, 852_054n].map((height) => publicChainsAt(mainnet, height))).toEqual([10, 20])
  expect(publicChainsAt(8, 1n)).toBe(20)
  expect(publicChainsAt(2, 1n)).toBeNull()
})
