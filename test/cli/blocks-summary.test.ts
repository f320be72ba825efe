/** Sums of a journal, for each network and span of time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { summariesOf, summaryLines } from '../../src/commands/results/blocks-lines.ts'
import type { StepName } from '../../src/ground/chain/solution.ts'
import { readJournal } from '../../src/mining/journal/content.ts'
import type { BlockRecord } from '../../src/mining/journal/record.ts'
import type { Price } from '../../src/mining/mine/profit.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00.000Z')
const HOUR_MS = 3_600_000

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

let count = 0
function record(state: StepName, parts: Partial<BlockRecord> & { readonly hoursAgo?: number } = {}): BlockRecord {
  const { hoursAgo = 0, ...rest } = parts
  return {
    ...{
      hash: String(count++).padStart(43, 'h'),
      network: 'development',
      account: 'k:me',
      issuer: 'http://a',
      chain: 0,
      height: 1,
    },
    ...{ device: 'thread0', effort: 1, difficulty: 1, work: 'A'.repeat(382), state, depth: null, mayReturn: false },
    ...{ reason: null, message: null, reward: null, fees: null },
    foundAt: new Date(NOW_MS - hoursAgo * HOUR_MS).toISOString(),
    ...rest,
  }
}

const paid = (reward: string, hoursAgo: number, fees: string | null = null) =>
  record('confirmed', { reward, hoursAgo, fees })

/** Sums of a journal with these records. `first`: the first row that counts. */
async function sumsOf(records: readonly BlockRecord[], { first = 0, price }: { first?: number; price?: Price } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-sums-'))
  folders.push(folder)
  writeFileSync(join(folder, 'blocks-2026-11.jsonl'), records.flatMap(linesOf).join(''))
  return summariesOf(await readJournal(folder), first, NOW_MS, price)
}

function linesOf({ hash, foundAt: at, state, reward, fees, depth, mayReturn, reason, message, ...found }: BlockRecord) {
  const steps = [
    { step: 'found', ...found },
    ...(state === 'found' ? [] : [{ step: state, depth: depth ?? 6, message: message ?? '', reason: 'unknown' }]),
    ...(reward === null ? [] : [{ step: 'reward', amount: reward, ...(fees !== null && { fees }) }]),
  ]
  return steps.map((step) => `${JSON.stringify({ at, hash, ...step })}\n`)
}

it('the summary of blocks sums rewards and fees of confirmed blocks, over all time and the last day, week and month', async () => {
  const records = [
    ...[paid('1', 31 * 24), paid('2', 29 * 24), paid('4', 6 * 24, '0.25'), paid('8', 23, '0.5'), paid('16', 25)],
    record('confirmed', { hoursAgo: 1 }),
    record('orphaned', { reward: '32', hoursAgo: 1 }),
  ]
  const [sum, ...others] = await sumsOf(records, { price: { amount: 2, currency: 'EUR' } })
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
  expect(sum.firstFoundAt).toBe('2026-10-27T12:00:00.000Z')
  expect(sum.lastFoundAt).toBe('2026-11-27T11:00:00.000Z')
})

it('the summary of blocks keeps networks apart, and names all paid accounts', async () => {
  const test = { network: 'testnet06', reward: '3' }
  const records = [paid('1', 1), record('confirmed', { ...test, account: 'k:you' }), record('confirmed', test)]
  expect(await sumsOf(records)).toMatchObject([
    { network: 'development', accounts: ['k:me'], paid: { blocks: 1, coins: '1', value: null }, currency: null },
    { network: 'testnet06', accounts: ['k:you', 'k:me'], paid: { blocks: 2, coins: '6', value: null } },
  ])
})

it('the summary of blocks counts pending solutions neither as paid nor as lost', async () => {
  const [sum] = await sumsOf([record('found'), record('unconfirmed')])
  expect(sum).toMatchObject({ paid: { blocks: 0, coins: '0' }, unknownBlocks: 0, lostShare: null })
})

it('newcut blocks --summary prints a table for each network', async () => {
  const records = [paid('1.5', 48, '0.5'), record('confirmed'), record('stale'), record('found', { network: 'other' })]
  const price = { amount: 0.02, currency: 'USD' }
  expect(summaryLines(await sumsOf(records, { price }), 'DIR')).toEqual([
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

it('the summary of blocks sums the rows from a given one, with amounts of any precision and size', async () => {
  const amounts = ['1', '9007.199254740993', '0.00000000000000000001', '99999999999999999999', '4503.6', '4503.6']
  const records = [record('confirmed', { account: 'k:old' }), ...amounts.map((amount) => paid(amount, 1, '0.5'))]
  const coins = '100000000000000018017.39925474099300000001'
  const [{ paid: sum, lastDay, solutions, accounts, unknownBlocks }] = await sumsOf(records, { first: 1 })
  expect({ sum, solutions, accounts, unknownBlocks }).toEqual({
    ...{ sum: { blocks: 6, coins, fees: '3', value: null }, solutions: 6, accounts: ['k:me'], unknownBlocks: 0 },
  })
  expect(lastDay).toEqual(sum)
  const [all] = await sumsOf([...records, paid('0.25', 1, '0.0000000000001')])
  expect(all.paid.fees).toBe('3.0000000000001')
  expect(all.accounts).toEqual(['k:old', 'k:me'])
  expect(all.unknownBlocks).toBe(1)
})
