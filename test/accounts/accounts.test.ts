/** Accounts of workers: their table and warnings, and how they are restored after a kill. */
import { describe, expect, it } from 'vitest'
import { minuteOf } from '../../src/mining/accounts/account.ts'
import { type AccountChanges, type AccountStore, Accounts } from '../../src/mining/accounts/accounts.ts'
import { rigRows } from '../../src/mining/accounts/rig-rows.ts'
import type { RefusedShares, ShareEntry, ShareReader } from '../../src/mining/accounts/share-store.ts'
import { randomFrom } from '../random.ts'
import { START_MS, shareOf } from './shares.ts'

/** A share log and saved accounts in memory. */
class Memory implements ShareReader, AccountStore {
  readonly log: ShareEntry[] = []
  readonly counts: RefusedShares[] = []
  saved: (AccountChanges & { readonly accounts: ReadonlyMap<string, AccountChanges['changed'][number]> }) | null = null

  async *shares({ fromMs = 0 } = {}) {
    yield* this.log.filter(({ timeMs }) => timeMs >= fromMs)
  }

  async *refusals({ fromMs = 0 } = {}) {
    yield* this.counts.filter(({ minuteMs }) => minuteMs >= fromMs)
  }

  async load() {
    if (this.saved === null) return null
    const { throughMs, savedMs, accounts } = this.saved
    // A copy, as if read from disk.
    return {
      throughMs,
      savedMs,
      accounts: JSON.parse(JSON.stringify([...accounts.values()])) as AccountChanges['changed'],
    }
  }

  async save(change: AccountChanges) {
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
    const same = this.counts.findIndex((each) => each.minuteMs === minuteMs && each.worker === worker)
    const count = 1 + (this.counts[same]?.count ?? 0)
    if (same >= 0) this.counts.splice(same, 1)
    this.counts.push({ minuteMs, user: 'k:abc', worker, verdict: 'stale', count })
  }
}

const quiet = { onWarning: () => undefined }

describe('accounts', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('accounts are bit-identical after a kill (seed %i)', async (seed) => {
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
        live.acceptLogged(share)
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
    expect(again.throughMs).toBe(live.throughMs)
  })

  it('rows of workers have those in trouble first, then the fastest, then those that went long ago', () => {
    const live = new Accounts(quiet)
    const nowMs = START_MS + 3 * 86_400_000
    live.acceptLogged({ ...shareOf(1), worker: 'old', timeMs: START_MS })
    for (const [i, [worker, difficulty]] of [
      ['slow', 2 ** 30] as const,
      ['fast', 2 ** 50] as const,
      ['gone', 2 ** 60] as const,
    ].entries())
      live.acceptLogged({ ...shareOf(2 + i), worker, difficulty, timeMs: nowMs - 60_000 })
    for (const worker of ['slow', 'fast']) live.join('k:abc', worker)
    expect(rigRows(live, nowMs).map(({ worker }) => worker)).toEqual(['gone', 'fast', 'slow', 'old'])
  })

  it('accounts count the block of a refused share once, and no share, before and after they are saved', async () => {
    const memory = new Memory()
    const live = new Accounts(quiet)
    const keep = (share: ShareEntry) => {
      memory.log.push(share)
      live.acceptLogged(share)
    }
    keep(shareOf(1))
    await live.save(memory, START_MS + 1)
    keep(shareOf(2, { block: 'late', difficulty: 0, refusedAs: 'stale' }))
    live.refuse('k:abc', 'other', 'low', START_MS + 2)
    await live.save(memory, START_MS + 2)
    const restored = new Accounts(quiet)
    await restored.restore(memory, memory, START_MS + 3)
    for (const accounts of [live, restored])
      expect(accounts.get('k:abc', 'shelf-1')).toMatchObject({ accepted: 1, hashes: 2 ** 40, blocks: 1 })
    expect(memory.saved?.accounts.get('k:abc other')?.refused).toEqual({ low: 1 })
  })

  it('accounts are rebuilt from the last seven days of the log', async () => {
    const memory = new Memory()
    const dayMs = 86_400_000
    memory.log.push(shareOf(0, { worker: 'old' }), shareOf(0, { worker: 'new', timeMs: START_MS + 2 }))
    const restored = new Accounts(quiet)
    await restored.restore(null, memory, START_MS + 1 + 7 * dayMs)
    expect([...restored.all].map(({ worker }) => worker)).toEqual(['new'])
  })

  it('accounts keep the refusals that they had from the log alone', async () => {
    const memory = new Memory()
    memory.log.push(shareOf(1, { worker: 'other' }))
    memory.refuse('shelf-1', START_MS)
    for (const nowMs of [START_MS, START_MS + 120_000]) {
      const accounts = new Accounts(quiet)
      await accounts.restore(memory, memory, nowMs)
      expect(accounts.get('k:abc', 'shelf-1')?.refused, `at ${nowMs} ms`).toEqual({ stale: 1 })
      await accounts.save(memory, START_MS + 60_000)
    }
  })

  it('accounts are rebuilt from the log if nothing was saved', async () => {
    const memory = new Memory()
    const live = new Accounts(quiet)
    for (let i = 0; i < 100; i++) {
      memory.log.push(shareOf(1000 * i))
      live.acceptLogged(shareOf(1000 * i))
    }
    memory.refuse('shelf-1', START_MS + 100_000)
    live.refuse('k:abc', 'shelf-1', 'stale', START_MS + 100_000)
    const restored = new Accounts(quiet)
    await restored.restore(null, memory, START_MS + 100_000)
    expect(rigRows(restored, START_MS + 100_000)).toEqual(rigRows(live, START_MS + 100_000))
  })

  it('accounts are saved the next time if a save fails', async () => {
    const memory = new Memory()
    const accounts = new Accounts(quiet)
    accounts.acceptLogged(shareOf(1))
    const full = { load: memory.load, save: () => Promise.reject(new Error('full')) }
    await expect(accounts.save(full, START_MS)).rejects.toThrow('full')
    await accounts.save(memory, START_MS)
    expect([...(memory.saved?.accounts.keys() ?? [])]).toEqual(['k:abc shelf-1'])
    memory.saved = null
    await accounts.save(memory, START_MS)
    expect(memory.saved).toBeNull()
  })

  it('accounts that change during a save belong to the next one, even if it fails', async () => {
    const memory = new Memory()
    const accounts = new Accounts({ ...quiet, maxAccounts: 4 })
    for (let i = 1; i <= 4; i++) accounts.acceptLogged(shareOf(i, { worker: `rig-${i}` }))
    await accounts.save(memory, START_MS)
    for (const [i, worker] of ['rig-5', 'rig-5', 'rig-6'].entries()) accounts.acceptLogged(shareOf(5 + i, { worker }))
    let written: AccountChanges | null = null
    const full = async (change: AccountChanges) => {
      written = change
      // An evicted worker returns, and a changed one is evicted and returns.
      const workers = ['rig-1', 'rig-7', 'rig-8', 'rig-5']
      for (const [i, worker] of workers.entries()) accounts.acceptLogged(shareOf(8 + i, { worker }))
      throw new Error('full')
    }
    await expect(accounts.save({ load: memory.load, save: full }, START_MS)).rejects.toThrow('full')
    expect(written).toMatchObject({ throughMs: START_MS + 7, dropped: [{ worker: 'rig-1' }, { worker: 'rig-2' }] })
    const counts = () => Object.fromEntries([...accounts.all].map(({ worker, accepted }) => [worker, accepted]))
    await accounts.save(memory, START_MS)
    const saved = [...(memory.saved?.accounts.values() ?? [])].map(({ worker, accepted }) => [worker, accepted])
    expect(Object.fromEntries(saved)).toEqual(counts())
  })

  it('accounts are written as they were when the save began', async () => {
    const accounts = new Accounts(quiet)
    accounts.acceptLogged(shareOf(1))
    accounts.refuse('k:abc', 'shelf-1', 'low', START_MS + 1)
    const written: AccountChanges[] = []
    const save = async (change: AccountChanges) => {
      accounts.acceptLogged(shareOf(2))
      accounts.refuse('k:abc', 'shelf-1', 'low', START_MS + 2)
      written.push(change)
    }
    await accounts.save({ load: async () => null, save }, START_MS)
    const minutes = [{ minuteMs: START_MS, accepted: 1, refused: { low: 1 } }]
    expect(written[0].changed).toMatchObject([{ accepted: 1, refused: { low: 1 }, minutes }])
  })

  it('accounts beyond the maximum replace the ones that were silent for longest', async () => {
    const memory = new Memory()
    const accounts = new Accounts({ ...quiet, maxAccounts: 4 })
    for (let i = 1; i <= 4; i++) accounts.acceptLogged(shareOf(i, { worker: `rig-${i}` }))
    accounts.acceptLogged(shareOf(5, { worker: 'rig-1' }))
    await accounts.save(memory, START_MS)
    accounts.acceptLogged(shareOf(6, { worker: 'rig-5' }))
    expect([...accounts.all].map(({ worker }) => worker).toSorted()).toEqual(['rig-1', 'rig-3', 'rig-4', 'rig-5'])
    await accounts.save(memory, START_MS)
    expect([...(memory.saved?.accounts.keys() ?? [])].toSorted()).toEqual(
      ['rig-1', 'rig-3', 'rig-4', 'rig-5'].map((name) => `k:abc ${name}`),
    )
    // One that returns is saved again.
    accounts.acceptLogged(shareOf(7, { worker: 'rig-2' }))
    accounts.acceptLogged(shareOf(8, { worker: 'rig-3' }))
    await accounts.save(memory, START_MS)
    expect([...(memory.saved?.accounts.keys() ?? [])].toSorted()).toEqual(
      ['rig-1', 'rig-2', 'rig-3', 'rig-5'].map((name) => `k:abc ${name}`),
    )
  })

  it('accounts list connections without shares too, workers in trouble first, then by rate', () => {
    const accounts = new Accounts(quiet)
    const [idle, busy] = [accounts.join('k:abc', 'idle'), accounts.join('k:abc', 'busy')]
    busy.setOrigin('new/2', '10.0.0.9')
    busy.setRate(5)
    busy.setAnnounced(7)
    busy.setDifficulty(8)
    accounts.join('k:abc', 'busy').setRate(6)
    for (let i = 0; i < 100; i++) accounts.acceptLogged(shareOf(1000 * i, { worker: i % 10 === 0 ? 'slow' : 'busy' }))
    for (let i = 0; i < 50; i++) accounts.refuse('k:abc', 'bad', 'low', START_MS + 100_000 + i)
    const rows = rigRows(accounts, START_MS + 110_000)
    expect(rows.map(({ worker, connections }) => [worker, connections])).toEqual([
      ['bad', 0],
      ['slow', 0],
      ['busy', 2],
      ['idle', 1],
    ])
    // Connection details come from the newest connection; rates add up.
    expect(rows[2]).toMatchObject({ hashrates: { now: 11, announced: 7 }, accepted: 90, agent: 'test/1' })
    expect(rows[0].warning).toMatchObject({ reason: 'low', remedy: expect.stringContaining('order=memory') })
    expect(rows[3].hashrates).toMatchObject({ now: null, announced: null })
    accounts.leave(idle)
    expect(rigRows(accounts, START_MS).map(({ worker }) => worker)).not.toContain('idle')
    accounts.leave(busy)
    expect(rigRows(accounts, START_MS)[2]).toMatchObject({ connections: 1, hashrates: { now: 6, announced: null } })
  })

  it('accounts describe a rig by its newest connection, or by its newest share without one', () => {
    const accounts = new Accounts(quiet)
    accounts.acceptLogged(shareOf(1))
    const ofShare = { agent: 'test/1', address: '10.0.0.1', difficulty: 2 ** 40 }
    expect(rigRows(accounts, START_MS)).toMatchObject([ofShare])
    const [old, young] = [accounts.join('k:abc', 'shelf-1'), accounts.join('k:abc', 'shelf-1')]
    const ofYoung = { agent: 'new/2', address: '10.0.0.9', difficulty: 8 }
    old.setOrigin('old/1', '10.0.0.2')
    old.setDifficulty(4)
    young.setOrigin(ofYoung.agent, ofYoung.address)
    young.setDifficulty(ofYoung.difficulty)
    expect(rigRows(accounts, START_MS)).toMatchObject([ofYoung])
    for (const presence of [old, young]) accounts.leave(presence)
    expect(rigRows(accounts, START_MS)).toMatchObject([{ ...ofShare, connections: 0 }])
  })

  it('accounts of one hashrate are sorted by name, with the numbers in it as numbers', () => {
    const accounts = new Accounts(quiet)
    for (const worker of ['rig-10', 'rig-9', '']) accounts.join('k:abc', worker)
    accounts.join('k:ab', 'rig-11')
    expect(rigRows(accounts, START_MS).map(({ worker }) => worker)).toEqual(['rig-11', '', 'rig-9', 'rig-10'])
  })
})

describe('warnings of workers', () => {
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
      accept: (stepMs = 10) => accounts.acceptLogged(shareOf(1, { worker: 'shelf', timeMs: next(stepMs) })),
    }
  }
  const times = (count: number, run: () => void) => {
    for (let i = 0; i < count; i++) run()
  }

  it('the user gets one warning after 50 refused shares in a row, with the commonest reason, and one once all is well', () => {
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

  it('the user gets a warning after 50 refused shares in a row, however long these take', () => {
    const { told, refuse } = warned()
    times(25, () => refuse('low'))
    refuse('low', 700_000)
    times(23, () => refuse('low'))
    expect(told).toEqual([])
    refuse('low')
    expect(told).toEqual([[expect.stringMatching(/^the last 50 shares of shelf of k:abc were all refused/), false]])
  })

  it('the user gets a warning if more than 5 % of at least 50 shares in ten minutes are refused', () => {
    const { told, refuse, accept } = warned()
    times(3, () => refuse('stale'))
    times(46, () => accept())
    expect(told).toEqual([])
    refuse('stale')
    expect(told).toEqual([
      [expect.stringMatching(/^4 of the last 50 shares of shelf of k:abc were refused, all within/), false],
    ])
  })

  it('the user gets no warning for 5 %, nor for refusals older than ten minutes', () => {
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

  it("a warning stays until no more than 2.5 % of the worker's shares are refused", () => {
    const { told, refuse, accept } = warned()
    times(46, () => accept())
    times(4, () => refuse('stale'))
    times(109, () => accept())
    expect(told).toHaveLength(1)
    accept()
    expect(told.slice(1)).toEqual([['shelf of k:abc is well again: its shares are accepted', true]])
  })

  it('a warning names "unknown job" only if most refusals since the last accepted share are for such jobs', () => {
    const reason = (run: (by: ReturnType<typeof warned>) => void) => {
      const by = warned()
      run(by)
      times(50, () => by.refuse('stale'))
      return /the commonest reason is ([^:]*):/.exec(by.told[0][0])?.[1]
    }
    expect(reason(({ refuse }) => times(25, () => refuse('stale', 10, true)))).toBe('stale')
    expect(reason(({ refuse }) => times(26, () => refuse('stale', 10, true)))).toBe('unknown job')
    const recovers = ({ refuse, accept }: ReturnType<typeof warned>) => {
      times(30, () => refuse('stale', 10, true))
      accept()
    }
    expect(reason(recovers)).toBe('stale')
  })

  it('a warning names "unknown job" if the jobs belong to another server', () => {
    const { told, refuse } = warned()
    times(50, () => refuse('stale', 10, true))
    expect(told[0][0]).toMatch(/the commonest reason is unknown job: it searches jobs of another server/)
  })

  it('the user gets no warning for shares that this server could not store', () => {
    const { told, refuse } = warned()
    times(100, () => refuse('unavailable'))
    expect(told).toEqual([])
  })

  it('the user gets no warning for a worker that was silent for an hour', async () => {
    const { accounts, refuse } = warned()
    times(50, () => refuse('low'))
    const memory = new Memory()
    await accounts.save(memory, START_MS + 3_600_000)
    expect(accounts.get('k:abc', 'shelf')?.warning).not.toBeNull()
    await accounts.save(memory, START_MS + 3_602_000)
    expect(accounts.get('k:abc', 'shelf')?.warning).toBeNull()
    expect(memory.saved?.accounts.get('k:abc shelf')?.warning).toBeNull()
  })
})
