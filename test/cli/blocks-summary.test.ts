/** Sums of a journal, for each network and span of time. */
import { expect, it } from 'vitest'
import { summariesOf, summaryLines } from '../../src/commands/blocks-summary.ts'
import type { StepName } from '../../src/core/solution.ts'
import type { BlockRecord } from '../../src/journal/record.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00.000Z')
const HOUR_MS = 3_600_000

let count = 0
function record(state: StepName, parts: Partial<BlockRecord> & { readonly hoursAgo?: number } = {}): BlockRecord {
  const { hoursAgo = 0, ...rest } = parts
  return {
    ...{ hash: `h${count++}`, network: 'development', account: 'k:me', issuer: 'http://a', chain: 0, height: 1 },
    ...{ device: 'thread0', effort: 1, difficulty: 1, work: '', state, depth: null, mayReturn: false },
    ...{ reason: null, message: null, reward: null, fees: null },
    foundAt: new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString(),
    ...rest,
  }
}

const paid = (reward: string, hoursAgo: number, fees: string | null = null) =>
  record('confirmed', { reward, hoursAgo, fees })

it('sums rewards and fees of confirmed blocks, over all time and the last day, week and month', () => {
  const records = [
    ...[paid('1', 31 * 24), paid('2', 29 * 24), paid('4', 6 * 24, '0.25'), paid('8', 23, '0.5'), paid('16', 25)],
    record('confirmed', { hoursAgo: 1 }),
    record('orphaned', { reward: '32', hoursAgo: 1 }),
  ]
  const [sum, ...others] = summariesOf(records, NOW_MS, { amount: 2, currency: 'EUR' })
  expect(others).toEqual([])
  expect(sum).toMatchObject({
    ...{ network: 'development', accounts: ['k:me'], solutions: 7, unknownBlocks: 1, currency: 'EUR' },
    states: { confirmed: 6, orphaned: 1 },
    paid: { blocks: 5, coins: '31.75', fees: '0.75', value: 63.5 },
    lastMonth: { blocks: 4, coins: '30.75', fees: '0.75', value: 61.5 },
    lastWeek: { blocks: 3, coins: '28.75', fees: '0.75', value: 57.5 },
    lastDay: { blocks: 1, coins: '8.5', fees: '0.5', value: 17 },
  })
  expect(sum.lostShare).toBeCloseTo(1 / 7, 12)
  expect([sum.firstFoundAt, sum.lastFoundAt]).toEqual(['2026-10-27T12:00:00.000Z', '2026-11-27T11:00:00.000Z'])
})

it('keeps networks apart, and names all paid accounts', () => {
  const test = { network: 'testnet06', reward: '3' }
  const records = [paid('1', 1), record('confirmed', { ...test, account: 'k:you' }), record('confirmed', test)]
  expect(summariesOf(records, NOW_MS)).toMatchObject([
    { network: 'development', accounts: ['k:me'], paid: { blocks: 1, coins: '1', value: null }, currency: null },
    { network: 'testnet06', accounts: ['k:you', 'k:me'], paid: { blocks: 2, coins: '6', value: null } },
  ])
})

it('pending solutions are neither paid nor lost', () => {
  const [sum] = summariesOf([record('found'), record('unconfirmed')], NOW_MS)
  expect(sum).toMatchObject({ paid: { blocks: 0, coins: '0' }, unknownBlocks: 0, lostShare: null })
})

it('prints a table for each network', () => {
  const records = [paid('1.5', 48, '0.5'), record('confirmed'), record('stale'), record('found', { network: 'other' })]
  const price = { amount: 0.02, currency: 'USD' }
  expect(summaryLines(summariesOf(records, NOW_MS, price), 'DIR')).toEqual([
    'development: 3 solutions from 2026-11-25 to 2026-11-27 (UTC)',
    '  2 confirmed, 1 stale, 33.3 % lost',
    '  paid          1 block   2 coins  0.04 USD  (0.5 of them fees)',
    '  last 24 h     0 blocks  0 coins  0 USD',
    '  last 7 days   1 block   2 coins  0.04 USD  (0.5 of them fees)',
    '  last 30 days  1 block   2 coins  0.04 USD  (0.5 of them fees)',
    '  the reward of 1 confirmed block is unknown',
    '  to k:me',
    '',
    'other: 1 solution from 2026-11-27 to 2026-11-27 (UTC)',
    '  1 found',
    '  paid          0 blocks  0 coins  0 USD',
    '  last 24 h     0 blocks  0 coins  0 USD',
    '  last 7 days   0 blocks  0 coins  0 USD',
    '  last 30 days  0 blocks  0 coins  0 USD',
    '  to k:me',
  ])
  expect(summaryLines([], 'DIR')).toEqual(['no blocks in DIR'])
})
