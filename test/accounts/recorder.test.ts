/** Shares between their judgement and the answer to the rig. */
import { describe, expect, it } from 'vitest'
import { Accounts } from '../../src/accounts/accounts.ts'
import { type KeepOutcome, MAX_WAITING, type NewShare, ShareRecorder } from '../../src/accounts/recorder.ts'
import type { LedgerStorage, PendingBlocks, PendingShare, RigNotice } from '../../src/accounts/rig-ledger.ts'
import type { RefusedShares, ShareEntry, ShareStore } from '../../src/accounts/share-store.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { shareOf } from './shares.ts'

/** A store whose appends wait until the test releases them. */
class SlowStore implements ShareStore {
  readonly appended: ShareEntry[] = []
  readonly batches: number[] = []
  readonly counts: RefusedShares[] = []
  isFull = false
  isClosed = false
  saves = 0
  #waiting: (() => void)[] = []

  async append(shares: readonly ShareEntry[]) {
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (this.isFull) throw new Error('no space')
    this.appended.push(...shares)
    this.batches.push(shares.length)
  }

  async refuse(counts: readonly RefusedShares[]) {
    if (this.isFull) throw new Error('no space')
    this.counts.push(...counts)
  }

  async letThrough() {
    await settle()
    for (const resolve of this.#waiting.splice(0)) resolve()
    await settle()
  }

  async *shares() {
    yield* this.appended
  }

  async *refused() {
    yield* this.counts
  }

  async close() {
    this.isClosed = true
  }
}

/** Shares that an earlier process has left, and what comes of them. */
class Left implements PendingBlocks {
  readonly shares = new Map<string, PendingShare>()
  get pending() {
    return this.shares.values()
  }
  add(share: PendingShare) {
    this.shares.set(share.id, share)
  }
  done(id: string) {
    this.shares.delete(id)
  }
}

const blockOf = (number: number): NewShare => {
  const { timeMs: _, ...share } = shareOf(number, { block: `block-${number}` })
  return share
}

function recording({ known = [] as readonly string[], newestMs = 0, blocks = new Left() } = {}) {
  const store = new SlowStore()
  const clock = new VirtualClock()
  const notices: RigNotice[] = []
  const accounts = new Accounts({ onWarning: () => undefined })
  const saved = { load: async () => null, save: async () => void store.saves++ }
  const kept: LedgerStorage = { store, accounts: saved, has: (id) => known.includes(id), newestMs, blocks }
  const recorder = new ShareRecorder(kept, accounts, clock, (notice) => notices.push(notice))
  const answers: [number, KeepOutcome][] = []
  const accept = (number: number) => {
    const { timeMs, ...share } = shareOf(number)
    recorder.accept(share satisfies NewShare, (outcome) => answers.push([number, outcome]))
  }
  return { store, clock, notices, accounts, recorder, answers, accept, blocks }
}

describe('a share', () => {
  it('counts and is answered once its store has it; shares of one turn are stored together, answered in order', async () => {
    const { store, accounts, answers, accept, clock } = recording()
    for (const number of [3, 1, 2]) accept(number)
    await settle()
    expect([answers, accounts.size]).toEqual([[], 0])
    accept(4)
    await store.letThrough()
    expect(answers).toEqual([
      [3, 'accepted'],
      [1, 'accepted'],
      [2, 'accepted'],
    ])
    expect(accounts.get('k:abc', 'shelf-1')?.accepted).toBe(3)
    await clock.pass(1)
    await store.letThrough()
    expect(answers).toHaveLength(4)
    expect(store.batches).toEqual([3, 1])
    // Shares are ordered by time and id, and no two writes share a time.
    const [first, second] = [clock.wallMs() - 1, clock.wallMs()]
    expect(store.appended.map(({ id, timeMs }) => [Number(id), timeMs])).toEqual([
      [1, first],
      [2, first],
      [3, first],
      [4, second],
    ])
  })

  it('is later than the shares of earlier runs, even if the clock was set back', async () => {
    const newestMs = 1_800_000_000_000
    const { store, accept, clock } = recording({ newestMs })
    accept(1)
    await store.letThrough()
    await clock.pass(10)
    accept(2)
    await store.letThrough()
    expect(store.appended.map(({ timeMs }) => timeMs)).toEqual([newestMs + 1, newestMs + 2])
  })

  it('is a duplicate if it was submitted before, even to an earlier process', async () => {
    const { store, accounts, accept, answers } = recording({ known: [shareOf(2).id] })
    for (const number of [1, 2, 1]) accept(number)
    await store.letThrough()
    expect(answers.toSorted()).toEqual([
      [1, 'accepted'],
      [1, 'duplicate'],
      [2, 'duplicate'],
    ])
    expect(accounts.get('k:abc', 'shelf-1')?.accepted).toBe(1)
  })

  it('is refused and does not count if it cannot be stored; the console reports the failure and the recovery once each', async () => {
    const { store, clock, accounts, notices, accept, answers, recorder } = recording()
    store.isFull = true
    for (const number of [1, 2]) {
      accept(number)
      await store.letThrough()
      await clock.pass(1)
    }
    expect(answers).toEqual([
      [1, 'unavailable'],
      [2, 'unavailable'],
    ])
    expect([accounts.size, recorder.isWell]).toEqual([0, false])
    const after = 'shares are refused until it can be written; newcut still submits blocks'
    expect(notices).toEqual([{ type: 'trouble', message: `no space: ${after}` }])
    store.isFull = false
    accept(3)
    await store.letThrough()
    expect(answers.at(-1)).toEqual([3, 'accepted'])
    expect(notices.slice(1)).toEqual([{ type: 'recovered', message: 'the share log can be written again' }])
    expect(recorder.isWell).toBe(true)
  })

  it('is answered as unavailable if too many wait', async () => {
    const { accept, answers } = recording()
    for (let i = 0; i <= MAX_WAITING; i++) accept(i)
    expect(answers).toEqual([[MAX_WAITING, 'unavailable']])
  })
})

describe('the share of a block', () => {
  it('is refused if it cannot be stored, and is stored once that works again', async () => {
    const { store, clock, accounts, answers, recorder, blocks } = recording()
    store.isFull = true
    recorder.secure(blockOf(1))
    recorder.accept(blockOf(1), (outcome) => {
      answers.push([1, outcome])
      if (outcome !== 'accepted') recorder.refuse('k:abc', 'shelf-1', outcome)
    })
    await store.letThrough()
    expect([answers, blocks.shares.size]).toEqual([[[1, 'unavailable']], 1])
    await clock.pass(1_000)
    await store.letThrough()
    const account = accounts.get('k:abc', 'shelf-1')
    expect(account).toMatchObject({ accepted: 0, blocks: 0, refused: { unavailable: 1 } })
    expect(blocks.shares.size).toBe(1)
    store.isFull = false
    await clock.pass(1_000)
    await store.letThrough()
    await clock.pass(3_000)
    expect(store.appended.map(({ id, block }) => [Number(id), block])).toEqual([[1, 'block-1']])
    expect([answers.length, blocks.shares.size]).toEqual([1, 0])
    expect(account, 'its rig was told that it is refused').toMatchObject({
      ...{ accepted: 0, hashes: 0, blocks: 1, refused: { unavailable: 1 } },
    })
  })

  it('is appended once even if that takes long', async () => {
    const { store, clock, recorder, blocks } = recording()
    recorder.secure(blockOf(1))
    recorder.accept(blockOf(1), () => undefined)
    await clock.pass(5_000)
    await store.letThrough()
    await clock.pass(5_000)
    await store.letThrough()
    expect([store.appended.length, blocks.shares.size]).toEqual([1, 0])
  })

  it('from an earlier process is stored at the start, once', async () => {
    const blocks = new Left()
    for (const number of [1, 2]) blocks.add({ ...blockOf(number), foundMs: 7 })
    const { store, accounts } = recording({ blocks, known: [blockOf(2).id] })
    await store.letThrough()
    expect(store.appended.map(({ id }) => Number(id))).toEqual([1])
    expect(store.appended[0]).not.toHaveProperty('foundMs')
    expect([blocks.shares.size, accounts.get('k:abc', 'shelf-1')?.blocks]).toEqual([0, 1])
  })

  it('stays for the next start if the server stops', async () => {
    const { store, recorder, blocks } = recording()
    store.isFull = true
    recorder.secure(blockOf(1))
    recorder.accept(blockOf(1), () => undefined)
    const closed = recorder.close()
    await store.letThrough()
    await closed
    expect([...blocks.shares.keys()].map(Number)).toEqual([1])
  })
})

describe('refusals', () => {
  it('are stored once a second by worker, reason and minute, and survive a full disk', async () => {
    const { store, clock, recorder } = recording()
    const minuteMs = Math.floor(clock.wallMs() / 60_000) * 60_000
    expect(recorder.refuse('k:abc', 'a', 'stale')).toBe(true)
    expect(recorder.refuse('k:abc', 'a', 'stale')).toBe(false)
    recorder.refuse('k:abc', 'b', 'low')
    store.isFull = true
    await clock.pass(1_000)
    expect(store.counts).toEqual([])
    recorder.refuse('k:abc', 'a', 'stale')
    store.isFull = false
    await clock.pass(1_000)
    const of = { user: 'k:abc', minuteMs }
    expect(store.counts.toSorted((x, y) => (x.worker < y.worker ? -1 : 1))).toEqual([
      { ...of, worker: 'a', verdict: 'stale', count: 3 },
      { ...of, worker: 'b', verdict: 'low', count: 1 },
    ])
  })
})

describe('the end', () => {
  it('answers waiting shares, stores refusals, saves the accounts, and closes the store', async () => {
    const { store, recorder, accept, answers, accounts } = recording()
    accept(1)
    recorder.refuse('k:abc', 'a', 'stale')
    const closed = recorder.close()
    accept(2)
    expect(answers).toEqual([[2, 'unavailable']])
    await store.letThrough()
    await closed
    await recorder.close()
    expect(answers).toEqual([
      [2, 'unavailable'],
      [1, 'accepted'],
    ])
    expect([store.counts.length, store.saves, store.isClosed]).toEqual([1, 1, true])
    expect(accounts.size).toBe(2)
  })

  it('accounts are saved once a minute', async () => {
    const { store, clock, accept } = recording()
    accept(1)
    await store.letThrough()
    await clock.pass(60_000)
    expect(store.saves).toBe(1)
    accept(2)
    await store.letThrough()
    await clock.pass(60_000)
    expect(store.saves).toBe(2)
  })
})

it('without a store shares count at once', () => {
  const accounts = new Accounts({ onWarning: () => undefined })
  const recorder = new ShareRecorder(null, accounts, new VirtualClock(), () => undefined)
  recorder.count(accounts.join('k:abc', 'a'), 5, true)
  expect(accounts.get('k:abc', 'a')).toMatchObject({ accepted: 1, hashes: 5, blocks: 1 })
})
