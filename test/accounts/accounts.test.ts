/** Accounts of workers: their rates and warnings, and how they are restored after a kill. */
import { describe, expect, it } from 'vitest'
import { minuteOf, rateNames, WorkerAccount } from '../../src/accounts/account.ts'
import { type AccountStore, Accounts, type SavedChange } from '../../src/accounts/accounts.ts'
import { rigRows } from '../../src/accounts/rig-rows.ts'
import type { RefusedShares, ShareEntry, ShareReader } from '../../src/accounts/share-store.ts'
import { randomFrom } from '../random.ts'
import { START_MS, shareOf } from './shares.ts'

/** A share log and saved accounts in memory. */
class Memory implements ShareReader, AccountStore {
  readonly log: ShareEntry[] = []
  readonly refusals: RefusedShares[] = []
  saved: (SavedChange & { readonly accounts: ReadonlyMap<string, SavedChange['changed'][number]> }) | null = null

  async *shares({ fromMs = 0 } = {}) {
    yield* this.log.filter(({ timeMs }) => timeMs >= fromMs)
  }

  async *refused({ fromMs = 0 } = {}) {
    yield* this.refusals.filter(({ minuteMs }) => minuteMs >= fromMs)
  }

  async load() {
    if (this.saved === null) return null
    const { throughMs, savedMs, accounts } = this.saved
    // A copy, as if read from disk.
    return {
      throughMs,
      savedMs,
      accounts: JSON.parse(JSON.stringify([...accounts.values()])) as SavedChange['changed'],
    }
  }

  async save(change: SavedChange) {
    const key = ({ user, worker }: { user: string; worker: string }) => `${user} ${worker}`
    const accounts = new Map(this.saved?.accounts)
    for (const each of change.changed) accounts.set(key(each), each)
    for (const each of change.dropped) accounts.delete(key(each))
    this.saved = { ...change, accounts }
  }

  async close() {
    // Nothing to close.
  }

  refuse(worker: string, timeMs: number): void {
    const minuteMs = minuteOf(timeMs)
    const same = this.refusals.findIndex((each) => each.minuteMs === minuteMs && each.worker === worker)
    const count = 1 + (this.refusals[same]?.count ?? 0)
    if (same >= 0) this.refusals.splice(same, 1)
    this.refusals.push({ minuteMs, user: 'k:abc', worker, verdict: 'stale', count })
  }
}

const quiet = { onWarning: () => undefined }

describe('rates of a worker', () => {
  it('approximate the true rate in each window, at any age of the worker', () => {
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
      expect([name, rate / 2 ** 40]).toEqual([name, expect.closeTo(1, name === '1m' ? 0.4 : name === '5m' ? 0.2 : 0.1)])
    }
  })

  it('are unknown at first, and decrease during silence', () => {
    const account = new WorkerAccount('k:abc', '')
    expect(account.rate('1m', START_MS)).toBeNull()
    for (let i = 0; i <= 600; i++) account.accept(shareOf(i), 1000, false, START_MS + 1000 * i)
    expect(new WorkerAccount('k:abc', '', account.saved()).rate('1m', START_MS + 9_000)).toBeNull()
    const now = account.rate('1m', START_MS + 600_000) ?? 0
    expect(now).toBeCloseTo(1000, -2)
    expect(account.rate('1m', START_MS + 660_000)).toBeCloseTo(now / Math.E, 0)
  })
})

describe('accounts', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('are bit-identical after a kill (seed %i)', async (seed) => {
    const random = randomFrom(seed)
    const memory = new Memory()
    const live = new Accounts(quiet)
    let timeMs = START_MS
    for (let i = 0; i < 3000; i++) {
      timeMs += 1 + Math.floor(random() * 400)
      const worker = `rig-${Math.floor(random() * 5)}`
      if (random() < 0.2) {
        memory.refuse(worker, timeMs)
        live.refuse('k:abc', worker, 'stale', timeMs)
      } else {
        const difficulty = random() < 0.1 ? 0 : Math.floor(random() * 2 ** 50)
        const share = shareOf(i, { timeMs, worker, difficulty, block: random() < 0.01 ? 'block' : null })
        memory.log.push(share)
        live.acceptKept(share)
      }
      if (random() < 0.005) await live.save(memory, timeMs)
    }
    const restored = new Accounts(quiet)
    await restored.restore(memory, memory, timeMs)
    expect(rigRows(restored, timeMs + 5)).toEqual(rigRows(live, timeMs + 5))
    expect(memory.saved).not.toBeNull()
    expect(restored.throughMs).toBe(live.throughMs)
    // The restored accounts save and load once more.
    await restored.save(memory, timeMs + 1)
    const again = new Accounts(quiet)
    await again.restore(memory, memory, timeMs)
    expect(rigRows(again, timeMs + 5)).toEqual(rigRows(live, timeMs + 5))
  })

  it('are rebuilt from the log if nothing was saved', async () => {
    const memory = new Memory()
    const live = new Accounts(quiet)
    for (let i = 0; i < 100; i++) {
      memory.log.push(shareOf(1000 * i))
      live.acceptKept(shareOf(1000 * i))
    }
    memory.refuse('shelf-1', START_MS + 100_000)
    live.refuse('k:abc', 'shelf-1', 'stale', START_MS + 100_000)
    const restored = new Accounts(quiet)
    await restored.restore(null, memory, START_MS + 100_000)
    expect(rigRows(restored, START_MS + 100_000)).toEqual(rigRows(live, START_MS + 100_000))
  })

  it('are saved the next time if a save fails', async () => {
    const memory = new Memory()
    const accounts = new Accounts(quiet)
    accounts.acceptKept(shareOf(1))
    const full = { load: memory.load, save: () => Promise.reject(new Error('full')) }
    await expect(accounts.save(full, START_MS)).rejects.toThrow('full')
    await accounts.save(memory, START_MS)
    expect([...(memory.saved?.accounts.keys() ?? [])]).toEqual(['k:abc shelf-1'])
    memory.saved = null
    await accounts.save(memory, START_MS)
    expect(memory.saved).toBeNull()
  })

  it('beyond the maximum replace the ones that were silent for longest', async () => {
    const memory = new Memory()
    const accounts = new Accounts({ ...quiet, maxAccounts: 4 })
    for (let i = 1; i <= 4; i++) accounts.acceptKept(shareOf(i, { worker: `rig-${i}` }))
    accounts.acceptKept(shareOf(5, { worker: 'rig-1' }))
    await accounts.save(memory, START_MS)
    accounts.acceptKept(shareOf(6, { worker: 'rig-5' }))
    expect([...accounts.all].map(({ worker }) => worker).toSorted()).toEqual(['rig-1', 'rig-3', 'rig-4', 'rig-5'])
    await accounts.save(memory, START_MS)
    expect([...(memory.saved?.accounts.keys() ?? [])].toSorted()).toEqual(
      ['rig-1', 'rig-3', 'rig-4', 'rig-5'].map((name) => `k:abc ${name}`),
    )
  })

  it('list connections without shares too, workers with a warning first, then by rate', () => {
    const accounts = new Accounts(quiet)
    const [idle, busy] = [accounts.join('k:abc', 'idle'), accounts.join('k:abc', 'busy')]
    Object.assign(busy, { rate: 5, announced: 7, agent: 'new/2', address: '10.0.0.9', difficulty: 8 })
    accounts.join('k:abc', 'busy').rate = 6
    for (let i = 0; i < 100; i++) accounts.acceptKept(shareOf(1000 * i, { worker: i % 10 === 0 ? 'slow' : 'busy' }))
    for (let i = 0; i < 50; i++) accounts.refuse('k:abc', 'bad', 'low', START_MS + 100_000 + i)
    const rows = rigRows(accounts, START_MS + 110_000)
    expect(rows.map(({ worker, connections }) => [worker, connections])).toEqual([
      ['bad', 0],
      ['busy', 2],
      ['slow', 0],
      ['idle', 1],
    ])
    // Connection details come from the newest connection; rates add up.
    expect(rows[1]).toMatchObject({ hashrates: { now: 11, announced: 7 }, accepted: 90, agent: 'test/1' })
    accounts.leave(idle)
    expect(rigRows(accounts, START_MS).map(({ worker }) => worker)).not.toContain('idle')
  })
})

describe('the user gets a warning', () => {
  const warned = () => {
    const told: [string, boolean][] = []
    const accounts = new Accounts({ onWarning: (message, isWell) => told.push([message, isWell]) })
    let timeMs = START_MS
    const next = (stepMs: number) => {
      timeMs += stepMs
      return timeMs
    }
    return {
      told,
      accounts,
      refuse: (verdict: 'low' | 'stale' | 'duplicate' | 'unavailable', stepMs = 10, isUnknown = false) =>
        void accounts.refuse('k:abc', 'shelf', verdict, next(stepMs), isUnknown),
      accept: (stepMs = 10) => accounts.acceptKept(shareOf(1, { worker: 'shelf', timeMs: next(stepMs) })),
    }
  }
  const times = (count: number, run: () => void) => {
    for (let i = 0; i < count; i++) run()
  }

  it('once after 50 refused shares in a row, with the most frequent reason, and once when the worker is well again', () => {
    const { told, refuse, accept } = warned()
    times(10, () => refuse('stale'))
    times(39, () => refuse('low'))
    expect(told).toEqual([])
    refuse('low')
    const text =
      'the last 50 shares of shelf of k:abc were all refused; the commonest reason is low: is it set to another network or pool, or its order of bytes (password order=memory)?'
    expect(told).toEqual([[text, false]])
    times(100, () => refuse('low'))
    expect(told).toHaveLength(1)
    // The worker is not well while refused shares are a large part of the last ten minutes.
    times(60, () => accept())
    expect(told).toHaveLength(1)
    times(60, () => accept(10_000))
    expect(told.slice(1)).toEqual([['shelf of k:abc is well again: its shares are accepted', true]])
    times(50, () => refuse('duplicate'))
    expect(told[2][0]).toMatch(/reason is duplicate: it uses up its headers/)
  })

  it('if more than 5 % of at least 50 shares in ten minutes are refused', () => {
    const { told, refuse, accept } = warned()
    times(3, () => refuse('stale'))
    times(46, () => accept())
    expect(told).toEqual([])
    refuse('stale')
    expect(told).toEqual([
      [expect.stringMatching(/^4 of the last 50 shares of shelf of k:abc were refused, all within/), false],
    ])
  })

  it('but not for 5 %, nor for refusals older than ten minutes', () => {
    const { told, refuse, accept } = warned()
    times(95, () => accept())
    times(5, () => refuse('stale'))
    expect(told).toEqual([])
    accept(660_000)
    times(47, () => accept())
    times(2, () => refuse('stale'))
    expect(told).toEqual([])
    refuse('stale')
    expect(told).toHaveLength(1)
  })

  it('with "unknown job" if the jobs belong to another server', () => {
    const { told, refuse } = warned()
    times(50, () => refuse('stale', 10, true))
    expect(told[0][0]).toMatch(/the commonest reason is unknown job: it searches jobs of another server/)
  })

  it('but not for shares that this server could not store', () => {
    const { told, refuse } = warned()
    times(100, () => refuse('unavailable'))
    expect(told).toEqual([])
  })

  it('but not for a worker that was silent for an hour', async () => {
    const { accounts, refuse } = warned()
    times(50, () => refuse('low'))
    const memory = new Memory()
    await accounts.save(memory, START_MS + 3_600_000)
    expect(accounts.get('k:abc', 'shelf')?.warning).not.toBeNull()
    await accounts.save(memory, START_MS + 3_602_000)
    expect(accounts.get('k:abc', 'shelf')?.warning).toBeNull()
  })
})
