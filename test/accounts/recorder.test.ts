/** Shares between their judgement and the answer to the rig. */
import { describe, expect, it } from 'vitest'
import { refusedVerdicts } from '../../src/mining/accounts/account.ts'
import { Accounts } from '../../src/mining/accounts/accounts.ts'
import { MAX_WAITING, ShareRecorder } from '../../src/mining/accounts/recorder.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { blockOf, Left, recording } from './recording.ts'
import { shareOf } from './shares.ts'

describe('share', () => {
  it('a share counts once its store has it; shares of one turn are stored together and answered in order', async () => {
    const { store, accounts, answers, accept, clock } = recording()
    for (const number of [3, 1, 2]) accept(number)
    await settle()
    expect(answers).toEqual([])
    expect(accounts.size).toBe(0)
    accept(4)
    await store.letThrough()
    expect(answers).toEqual([
      [3, 'accepted'],
      [1, 'accepted'],
      [2, 'accepted'],
    ])
    expect(accounts.get('k:abc', 'shelf-1')?.accepted).toBe(3)
    // The next write has a time of its own, which the clock must reach first.
    await store.letThrough()
    expect(answers).toHaveLength(3)
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

  it('a share is later than the shares of earlier runs, even if the clock was set back', async () => {
    const newestMs = 1_800_000_000_000
    const { store, accept, clock, recorder } = recording({ newestMs })
    accept(1)
    await store.letThrough()
    await clock.pass(10)
    accept(2)
    await store.letThrough()
    expect(store.appended.map(({ timeMs }) => timeMs)).toEqual([newestMs + 1, newestMs + 2])
    expect(recorder.nowMs).toBe(newestMs + 2)
  })

  it('a share is later than those of restored accounts', async () => {
    const accounts = new Accounts({ onWarning: () => undefined })
    const timeMs = 1_800_000_000_000
    accounts.acceptLogged(shareOf(1, { timeMs }))
    const { store, accept } = recording({ accounts })
    accept(2)
    await store.letThrough()
    expect(store.appended.map((share) => share.timeMs)).toEqual([timeMs + 1])
  })

  it('a share beyond 2,048 waits for a later write', async () => {
    const { store, accept, clock } = recording()
    for (let i = 0; i <= 2_048; i++) accept(i)
    await store.letThrough()
    await clock.pass(1)
    await store.letThrough()
    expect(store.batches).toEqual([2_048, 1])
  })

  it('a share is a duplicate if it was submitted before, even to an earlier process', async () => {
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

  it('a share that cannot be stored is refused; the console reports the failure and the recovery once each', async () => {
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
    expect(accounts.size).toBe(0)
    expect(recorder.isWell).toBe(false)
    const after = 'shares are refused until it can be written; newcut still submits blocks'
    expect(notices).toEqual([{ type: 'trouble', message: `no space: ${after}` }])
    store.isFull = false
    accept(3)
    await store.letThrough()
    expect(answers.at(-1)).toEqual([3, 'accepted'])
    expect(notices.slice(1)).toEqual([{ type: 'recovered', message: 'the share log can be written again' }])
    expect(recorder.isWell).toBe(true)
  })

  it('a share is answered as unavailable if too many wait', async () => {
    const { accept, answers } = recording()
    for (let i = 0; i <= MAX_WAITING; i++) accept(i)
    expect(answers).toEqual([[MAX_WAITING, 'unavailable']])
  })
})

describe('share of a block', () => {
  it('the share of a block is refused if it cannot be stored, and is stored once that works again', async () => {
    const { store, clock, accounts, answers, recorder, blocks } = recording()
    store.isFull = true
    recorder.secure(blockOf(1))
    recorder.accept(blockOf(1), (outcome) => {
      answers.push([1, outcome])
      if (outcome !== 'accepted') recorder.refuse('k:abc', 'shelf-1', outcome)
    })
    await store.letThrough()
    expect(answers).toEqual([[1, 'unavailable']])
    expect(blocks.shares.size).toBe(1)
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
    expect(answers.length).toBe(1)
    expect(blocks.shares.size).toBe(0)
    expect(account, 'its rig was told that it is refused').toMatchObject({
      ...{ accepted: 0, hashes: 0, blocks: 1, refused: { unavailable: 1 } },
    })
  })

  it('the share of a block is appended once even if that takes long', async () => {
    const { store, clock, recorder, blocks } = recording()
    recorder.secure(blockOf(1))
    recorder.accept(blockOf(1), () => undefined)
    await clock.pass(5_000)
    await store.letThrough()
    await clock.pass(5_000)
    await store.letThrough()
    expect(store.appended.length).toBe(1)
    expect(blocks.shares.size).toBe(0)
  })

  it('the share of a block from an earlier process is stored at the start, once', async () => {
    const blocks = new Left()
    for (const number of [1, 2]) blocks.add({ ...blockOf(number), foundMs: 7 })
    const { store, accounts } = recording({ blocks, known: [blockOf(2).id] })
    await store.letThrough()
    expect(store.appended.map(({ id }) => Number(id))).toEqual([1])
    expect(store.appended[0]).not.toHaveProperty('foundMs')
    expect(blocks.shares.size).toBe(0)
    expect(accounts.get('k:abc', 'shelf-1')?.blocks).toBe(1)
  })

  it('the share of a block stays for the next start if the server stops', async () => {
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
  it('refusals are stored once a second by worker, reason and minute, and survive a full disk', async () => {
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

describe('refusals at a store', () => {
  it('refusals beyond 100,000 workers and reasons a second count in the accounts alone', async () => {
    const accounts = new Accounts({ onWarning: () => undefined, maxAccounts: 4_000 })
    const { store, clock, recorder } = recording({ accounts })
    const most = 100_000
    const workerOf = (i: number) => `rig-${Math.floor(i / refusedVerdicts.length)}`
    const verdictOf = (i: number) => refusedVerdicts[i % refusedVerdicts.length]
    for (let i = 0; i <= most; i++) recorder.refuse('k:abc', workerOf(i), verdictOf(i))
    recorder.refuse('k:abc', workerOf(1), verdictOf(1))
    expect(accounts.get('k:abc', workerOf(most))?.refused[verdictOf(most)]).toBe(1)
    await clock.pass(1_000)
    expect(store.counts.length).toEqual(most)
    expect(store.counts[1].count).toBe(2)
  })

  it('refusals that cannot be written hold back the save of accounts', async () => {
    const { store, clock, recorder } = recording()
    store.isFull = true
    recorder.refuse('k:abc', 'a', 'stale')
    await clock.pass(60_000)
    expect(store.saves).toBe(0)
    store.isFull = false
    await clock.pass(60_000)
    expect(store.saves).toBe(1)
    expect(store.counts.length).toBe(1)
  })

  it('a steady stream of refusals does not hold back the save of accounts', async () => {
    const { store, clock, recorder } = recording()
    store.onRefuse = () => void recorder.refuse('k:abc', 'a', 'stale')
    store.onRefuse()
    await clock.pass(60_000)
    expect(store.saves).toBe(1)
  })

  it('refusals are stored before the store closes, even if their write began before the end', async () => {
    const { store, clock, recorder } = recording()
    let release: () => void = () => undefined
    store.opens = new Promise<void>((resolve) => {
      release = resolve
    })
    recorder.refuse('k:abc', 'a', 'stale')
    await clock.pass(1_000)
    const closed = recorder.close()
    await settle()
    expect(store.saves).toBe(0)
    expect(store.isClosed).toBe(false)
    release()
    await closed
    expect(store.counts.length).toBe(1)
    expect(store.saves).toBe(1)
    expect(store.isClosed).toBe(true)
  })
})

describe('end of the recorder', () => {
  it('the recorder ends with a save after any older save, so that the older one does not replace the newer', async () => {
    const { store, clock, recorder } = recording()
    recorder.refuse('k:abc', 'a', 'stale')
    await clock.pass(1_000)
    let release: () => void = () => undefined
    store.opens = new Promise<void>((resolve) => {
      release = resolve
    })
    await clock.pass(59_000)
    expect(store.saves).toBe(1)
    recorder.accounts.acceptLogged(shareOf(1))
    const closed = recorder.close()
    await settle()
    expect(store.saves).toBe(1)
    expect(store.isClosed).toBe(false)
    release()
    await closed
    expect(store.saves).toBe(2)
    expect(store.isClosed).toBe(true)
  })

  it('the recorder ends by answering waiting shares, storing refusals, saving the accounts and closing the store', async () => {
    const { store, recorder, accept, answers, accounts } = recording()
    accept(1)
    recorder.refuse('k:abc', 'a', 'stale')
    const closed = recorder.close()
    accept(2)
    expect(answers).toEqual([[2, 'unavailable']])
    await settle()
    expect(store.isClosed).toBe(false)
    await store.letThrough()
    await closed
    await recorder.close()
    expect(answers).toEqual([
      [2, 'unavailable'],
      [1, 'accepted'],
    ])
    expect(store.counts.length).toBe(1)
    expect(store.saves).toBe(1)
    expect(store.closes).toBe(1)
    expect(accounts.size).toBe(2)
  })

  it('the recorder saves the accounts once a minute', async () => {
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

it('shares count at once without a store', () => {
  const accounts = new Accounts({ onWarning: () => undefined })
  const recorder = new ShareRecorder(null, accounts, new VirtualClock(), () => undefined)
  recorder.count(accounts.join('k:abc', 'a'), 5, true)
  expect(accounts.get('k:abc', 'a')).toMatchObject({ accepted: 1, hashes: 5, blocks: 1 })
})
