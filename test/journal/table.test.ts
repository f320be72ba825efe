/** The table of a journal, and where its folder is. */
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exactText } from '../../src/ground/base/coins.ts'
import { CoinTotal } from '../../src/mining/journal/coin-total.ts'
import { stateFolder } from '../../src/mining/journal/folder.ts'
import { NO_AMOUNT, RecordTable } from '../../src/mining/journal/record-table.ts'

/** Random like real hashes: the table expects that. */
const hashOf = (name: string | number) => createHash('sha256').update(`${name}`).digest('base64url')
const origin = { network: 'testing', account: 'k:me' }

/** A table with these solutions, found one second after the other. */
function tableOf(hashes: readonly string[]) {
  const table = new RecordTable()
  for (const [row, hash] of hashes.entries()) table.add(table.keyOf(hash), 0, { origin, foundMs: 1000 * row }, row)
  return table
}

describe('table of solutions', () => {
  it('the table distinguishes hashes by each of their characters', () => {
    const base = hashOf('')
    const hashes = [...base].map((_, at) => `${base.slice(0, at)}x${base.slice(at + 1)}`)
    const table = tableOf(hashes)
    expect(hashes.map((hash) => table.rowOf(hash))).toEqual([...hashes.keys()])
    expect(table.rowOf(base)).toBe(-1)
    expect(table.hashOf(42)).toEqual(hashes[42])
  })

  it('the table has only the newest step of a solution', () => {
    const table = tableOf([hashOf(1)])
    const isOpenAfter = (step: Parameters<RecordTable['step']>[1]) => {
      table.step(0, step, 1)
      return table.isUnfinished(0, 6)
    }
    expect(isOpenAfter({ step: 'stale', mayReturn: true })).toBe(true)
    expect(isOpenAfter({ step: 'stale' })).toBe(false)
    expect(isOpenAfter({ step: 'lost', reason: 'stopped' })).toBe(true)
    expect(isOpenAfter({ step: 'lost', reason: 'unreachable' })).toBe(false)
    expect(isOpenAfter({ step: 'confirmed', depth: 5 })).toBe(true)
    expect(isOpenAfter({ step: 'confirmed', depth: 2 ** 32 })).toBe(false)
  })

  it('the table refuses more pairs of a network and an account than it has numbers for', () => {
    const table = new RecordTable()
    const add = (n: number) => {
      table.add(table.keyOf(hashOf(n)), 0, { origin: { network: 'testing', account: `k:${n}` }, foundMs: 0 }, n)
    }
    for (let n = 0; n < 65_535; n++) add(n)
    expect(table.origins[table.originOf(65_534)].account).toBe('k:65534')
    expect(() => add(65_535)).toThrow('more than 65535 accounts in a journal')
  })

  it('a table from an index knows its origins and its hashes', () => {
    const saved = tableOf([hashOf(1), hashOf(2)])
    const table = new RecordTable(saved.rows, saved.bytes, saved.origins)
    table.add(table.keyOf(hashOf(3)), 0, { origin: { ...origin }, foundMs: 5 }, 7)
    expect([1, 2, 3, 4].map((n) => table.rowOf(hashOf(n)))).toEqual([0, 1, 2, -1])
    expect(table.origins).toEqual([origin])
    expect(table.originOf(2)).toBe(0)
    expect(table.foundMsOf(1)).toBe(1000)
  })
})

it('a sum of rewards is exact, however many doubles it takes', () => {
  const table = tableOf(Array.from({ length: 9 }, (_, n) => hashOf(n)))
  const total = new CoinTotal()
  for (let row = 0; row < table.rows; row++) {
    // 4,000.000000000001 coins; three of them are more than a double counts one by one.
    table.reward(row, 4_000_000_000_000_001, row === 0 ? NO_AMOUNT : 1, row)
    total.add(table, row)
  }
  const { rewards, fees } = total.coins(() => [])
  expect(total.blocks).toBe(9)
  expect(exactText(rewards)).toBe('36000.000000000009')
  expect(exactText(fees)).toBe('0.000000000008')
})

describe('folder of the state', () => {
  it('the state folder is the default of the system, or the one that a variable names', () => {
    const usual = join(homedir(), '.local', 'state', 'newcut')
    expect(stateFolder({}, 'linux')).toBe(usual)
    expect(stateFolder({ XDG_STATE_HOME: '/states' }, 'linux')).toBe(join('/states', 'newcut'))
    expect(stateFolder({ LOCALAPPDATA: '/local' }, 'win32')).toBe(join('/local', 'newcut', 'state'))
    expect(stateFolder({}, 'win32')).toBe(join(homedir(), 'AppData', 'Local', 'newcut', 'state'))
  })

  it('the folder of the state is not the current one for an empty variable', () => {
    expect(stateFolder({ XDG_STATE_HOME: '' }, 'linux')).toBe(stateFolder({}, 'linux'))
    expect(stateFolder({ LOCALAPPDATA: '' }, 'win32')).toBe(stateFolder({}, 'win32'))
  })
})
