/** The account of one worker: its counters, its hashrates, and the minutes that count for warnings. */
import { describe, expect, it } from 'vitest'
import { MINUTE_MS, rateNames, type SavedAccount, WorkerAccount } from '../../src/mining/accounts/account.ts'
import { randomFrom } from '../random.ts'
import { START_MS, shareOf } from './shares.ts'

/** An account with one share of this difficulty at each of these times after the start. */
function withShares(difficulty: number, ...afterMs: readonly number[]): WorkerAccount {
  const account = new WorkerAccount('k:abc', 'shelf-1')
  for (const each of afterMs) account.accept(shareOf(1), difficulty, false, START_MS + each)
  return account
}

it('an account keeps the difficulty of its newest share that met the target of its own job', () => {
  const account = withShares(1000, 0)
  account.accept(shareOf(2), 0, true, START_MS + 1)
  expect(account).toMatchObject({ difficulty: 1000, accepted: 2, hashes: 1000, blocks: 1 })
})

it('an account knows when it heard last of its worker, whatever the verdict', () => {
  const account = withShares(1000, 1)
  expect(account.heardMs).toBe(START_MS + 1)
  account.refuse('stale', START_MS + 2)
  expect(account.heardMs).toBe(START_MS + 2)
  account.addBlock(START_MS + 3)
  expect(account.heardMs).toBe(START_MS + 3)
})

it('an account is the same after it was saved and loaded', () => {
  const account = withShares(1000, 0, 20_000, 70_000)
  account.refuse('low', START_MS + 71_000, 3)
  account.refuse('stale', START_MS + 72_000, 2, true)
  account.warning = { reason: 'low', refused: 5, of: 8, sinceMs: START_MS + 72_000 }
  const saved = JSON.parse(JSON.stringify(account.snapshot())) as SavedAccount
  expect(saved).toMatchObject({ streak: 5, unknownJobs: 2, firstMs: START_MS, lastShareMs: START_MS + 70_000 })
  expect(new WorkerAccount('k:abc', 'shelf-1', saved).snapshot()).toEqual(account.snapshot())
})

describe('rates of a worker', () => {
  it('the rates of a worker approximate its true rate in each window, at any age of the worker', () => {
    const account = new WorkerAccount('k:abc', '')
    const random = randomFrom(7)
    let timeMs = START_MS
    // 2^40 hashes a second on average, for two hours.
    for (let i = 0; i < 7200; i++) {
      timeMs += -1000 * Math.log(1 - random())
      account.accept(shareOf(i), 2 ** 40, false, timeMs)
    }
    for (const name of rateNames) {
      const rate = account.rate(name, timeMs) ?? 0
      expect(rate / 2 ** 40, name).toEqual(expect.closeTo(1, name === '1m' ? 0.4 : name === '5m' ? 0.2 : 0.1))
    }
  })

  it('the rates of a worker are unknown at first, and decrease during silence', () => {
    const account = new WorkerAccount('k:abc', '')
    expect(account.rate('1m', START_MS)).toBeNull()
    for (let i = 0; i <= 600; i++) account.accept(shareOf(i), 1000, false, START_MS + 1000 * i)
    expect(new WorkerAccount('k:abc', '', account.snapshot()).rate('1m', START_MS + 9_000)).toBeNull()
    const now = account.rate('1m', START_MS + 600_000) ?? 0
    expect(now).toBeCloseTo(1000, -2)
    expect(account.rate('1m', START_MS + 660_000)).toBeCloseTo(now / Math.E, 0)
  })
})

describe('hashrate of a worker', () => {
  it('the hashrate of a worker begins with its second share: the first one only starts the interval', () => {
    expect(withShares(1000, 0).rate('1m', START_MS + 10_000)).toBe(0)
    expect(withShares(1000, 0, 10_000).rate('7d', START_MS + 10_000)).toBeCloseTo(100, 2)
  })

  it.each([
    ['1m', 60],
    ['5m', 300],
    ['1h', 3_600],
    ['1d', 86_400],
    ['7d', 604_800],
  ] as const)('the hashrate of %s falls to 1/e in a silence of %i seconds', (window, seconds) => {
    const account = withShares(6000 * seconds, 0, 10_000)
    const expected = 6000 / Math.E / (1 - Math.exp(-1 - 10 / seconds))
    expect(account.rate(window, START_MS + 10_000 + 1000 * seconds)).toBeCloseTo(expected, 6)
  })

  it('the hashrate does not rise if the clock is set back before its newest share', () => {
    const account = withShares(6000, 0, 30_000)
    expect(account.rate('1m', START_MS + 20_000)).toBeCloseTo(100 / (1 - Math.exp(-1 / 3)), 6)
  })
})

describe('refusals of ten minutes', () => {
  it('ten minutes of refusals count for a warning, and no minute before them', () => {
    const account = withShares(1000, 1)
    account.refuse('low', START_MS + 2)
    expect(account.recent(START_MS + 10 * MINUTE_MS - 1)).toEqual({ accepted: 1, refused: { low: 1 } })
    expect(account.recent(START_MS + 10 * MINUTE_MS)).toEqual({ accepted: 0, refused: {} })
    const each = withShares(1000, ...Array.from({ length: 12 }, (_, minute) => minute * MINUTE_MS))
    expect(each.recent(START_MS + 11 * MINUTE_MS).accepted).toBe(10)
  })

  it('a minute of refusals counts as one, even if the clock goes back to it', () => {
    const account = new WorkerAccount('k:abc', 'shelf-1')
    for (const minute of [4, 5, 4, 5, 4]) account.refuse('low', START_MS + minute * MINUTE_MS)
    expect([4, 5].map((minute) => account.refusedIn(START_MS + minute * MINUTE_MS, 'low'))).toEqual([3, 2])
    expect(account.snapshot().minutes).toHaveLength(2)
  })
})
