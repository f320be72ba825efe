/** Block rewards against the table of the public network (rewards/miner_rewards.csv of chainweb-node). */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { rewardAt } from '../../src/devnet/ledger/gas.ts'

const ENTRY = 87_600
const ENTRIES = 60
const textAt = (height: number, chains = 1) => rewardAt(BigInt(height), chains).toSource()

it("rewards equal those of the public network's first five years, at both ends of every entry", () => {
  const entries = Array.from({ length: ENTRIES }, (_, i) => ({ first: i * ENTRY + 1, last: (i + 1) * ENTRY }))
  const rows = entries.map(({ first, last }) => {
    expect(textAt(first), `${first} and ${last}`).toBe(textAt(last))
    return `${last},${textAt(last)}\n`
  })
  expect(rows[0]).toBe('87600,23.04523\n')
  expect(rows[1]).toBe('175200,22.97878\n')
  expect(rows[59]).toBe('5256000,19.43471\n')
  // SHA-256 of the first 60 rows of that file, without the quotes and commas of its numbers.
  const digest = createHash('sha256').update(rows.join('')).digest('hex')
  expect(digest).toBe('4b5ad3ead1089d277138927c36ef0d6033f34da5445ee3ef7aee37d4a0d3db6c')
})

it('blocks after the last entry get its reward, and genesis blocks none', () => {
  for (const height of [ENTRIES * ENTRY + 1, 1e12]) expect(textAt(height)).toBe('19.43471')
  for (const height of [0n, -1n]) expect(() => rewardAt(height, 1)).toThrow(RangeError)
})

it('the chains of a network share a reward, to 12 places', () => {
  expect(textAt(1, 2)).toBe('11.522615')
  expect(textAt(1, 3)).toBe('7.681743333333')
  expect(textAt(1, 20)).toBe('1.1522615')
})
