import { describe, expect, it } from 'vitest'
import { encodeBase64Url, readU64LE } from '../../src/ground/base/bytes.ts'
import { decodeWork, withCreationTime, withNonce } from '../../src/ground/chain/header.ts'
import { meets, powHash, solves } from '../../src/ground/chain/pow.ts'
import type { FollowUp, Receipt } from '../../src/ground/chain/solution.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import { Miner } from '../../src/mining/mine/miner.ts'
import type { UnfinishedSolution } from '../../src/mining/mine/solution-steps.ts'
import { miss, solve } from '../solve.ts'
import { jobOf } from '../source/job.ts'
import { easyWork, FedSource, HandEngine } from './by-hand.ts'
import { settle, VirtualClock } from './virtual-clock.ts'

async function started(
  options: { blocks?: number; durationMs?: number } = {},
  unfinished: readonly UnfinishedSolution[] = [],
) {
  const clock = new VirtualClock()
  const source = new FedSource(clock)
  const engine = new HandEngine()
  const events: MinerEvent[] = []
  const stop = new AbortController()
  const miner = new Miner({ source, engines: [engine], clock, onEvent: (event) => events.push(event), ...options })
  miner.resumeUnfinished(unfinished)
  const ended = miner.run(stop.signal)
  await settle()
  return { clock, source, engine, events, stop, miner, ended }
}

const solutionsIn = (events: MinerEvent[]) => events.flatMap((event) => (event.type === 'solution' ? [event] : []))

describe('miner loop', () => {
  it('the miner submits a candidate that solves, once per work, and counts its verdict', async () => {
    const { source, engine, events, stop, ended } = await started()
    await source.give(easyWork(7n), 'start')
    const first = solve(engine.newest.bytes)
    await engine.claim(first)
    await engine.claim(solve(engine.newest.bytes, readU64LE(first, 278) + 1n))
    expect(source.submitted).toEqual([first])
    expect(solves(source.submitted[0])).toBe(true)
    expect(solutionsIn(events)).toMatchObject([
      { step: 'found', verdict: null },
      { step: 'handed-in', verdict: null },
      { step: 'acknowledged', verdict: null },
      { step: 'confirmed', depth: 1, verdict: 'accepted', height: 7, counts: { accepted: 1 } },
    ])
    stop.abort()
    expect((await ended).solutions).toMatchObject({ accepted: 1, stale: 0, orphaned: 0, rejected: 0, lost: 0 })
    expect(engine.stopped).toBe(true)
  })

  it('the miner counts a claim that does not solve as a hardware error, and does not submit it', async () => {
    const { source, engine, events, stop, ended } = await started()
    await source.give(easyWork(7n), 'start')
    await engine.claim(miss(engine.newest.bytes))
    expect(source.submitted).toEqual([])
    expect(events.filter(({ type }) => type === 'hardwareError')).toHaveLength(1)
    await engine.claim(solve(engine.newest.bytes))
    expect(source.submitted).toHaveLength(1)
    stop.abort()
    expect((await ended).hardwareErrors).toBe(1)
  })

  it('the miner judges a late claim by the work it was made for', async () => {
    const { source, engine, stop, ended } = await started()
    await source.give(easyWork(7n), 'start')
    const before = engine.newest
    await source.give(easyWork(8n))
    expect(engine.newest.sequence).toBeGreaterThan(before.sequence)
    const late = solve(before.bytes)
    await engine.claim(late, before.sequence)
    expect(source.submitted).toEqual([late])
    await engine.claim(late, before.sequence + 100)
    expect(source.submitted).toHaveLength(1)
    stop.abort()
    await ended
  })

  it('the miner judges a claim by the creation time that the engine searched, and submits it with that time', async () => {
    const { source, engine, stop, ended } = await started()
    await source.give(easyWork(7n), 'start')
    const time = decodeWork(engine.newest.bytes).creationTime + 3n
    const solution = solve(withCreationTime(engine.newest.bytes, time))
    await engine.claim(solution, engine.newest.sequence, { creationTime: time })
    expect(source.submitted).toEqual([solution])
    stop.abort()
    expect((await ended).hardwareErrors).toBe(0)
  })

  it('the miner gives engines the newest work only', async () => {
    const { source, engine, stop, ended } = await started()
    source.mailbox.put(jobOf(easyWork(1n), { reason: 'start' }))
    source.mailbox.put(jobOf(easyWork(2n)))
    await settle()
    expect(engine.works.map(({ bytes }) => bytes && decodeWork(bytes).height)).toEqual([2n])
    stop.abort()
    await ended
  })

  it('the miner is not idle while its source waits on purpose', async () => {
    const { clock, source, events, stop, miner, ended } = await started()
    Object.assign(source, { waitReason: 'for a test' })
    await source.give(easyWork(1n))
    await source.give(null)
    await clock.pass(5000)
    expect(events.filter(({ type }) => type === 'idle')).toEqual([])
    expect(miner.snapshot()).toMatchObject({ work: null, waitReason: 'for a test' })
    stop.abort()
    await ended
  })

  it('the miner takes work from the engines at once if there is none, and reports idle after half a second', async () => {
    const { clock, source, engine, events, stop, ended } = await started()
    await source.give(easyWork(1n))
    await source.give(null)
    expect(engine.works[1].bytes).toBeNull()
    expect(events.filter(({ type }) => type === 'idle')).toEqual([])
    await clock.pass(500)
    expect(events[events.length - 1]).toEqual({ type: 'idle' })
    stop.abort()
    const { work, preemptions } = await ended
    expect(work).toBeNull()
    expect(preemptions).toBe(1)
  })

  it('the miner stops after exactly the requested number of blocks, however many candidates there are', async () => {
    const { source, engine, ended } = await started({ blocks: 2 })
    let answer: (end: FollowUp) => void = () => undefined
    source.end = new Promise((resolve) => {
      answer = resolve
    })
    for (let height = 1n; height <= 3n; height++) {
      await source.give(easyWork(height))
      await engine.claim(solve(engine.newest.bytes))
    }
    // Two solutions are in flight, so the miner does not submit the third.
    expect(source.submitted).toHaveLength(2)
    answer({ step: 'confirmed', depth: 1 })
    expect((await ended).solutions.accepted).toBe(2)
  })

  it('the miner continues after solutions that are not accepted, and counts each verdict', async () => {
    const { source, engine, stop, ended } = await started({ blocks: 1 })
    const receipts: Receipt[] = [
      { step: 'stale' },
      { step: 'rejected', reason: 'no-payload', message: '404' },
      { step: 'lost', reason: 'unreachable', message: 'connection refused' },
    ]
    for (const [index, receipt] of receipts.entries()) {
      source.receipt = Promise.resolve(receipt)
      await source.give(easyWork(BigInt(index + 1)))
      await engine.claim(solve(engine.newest.bytes))
    }
    source.receipt = Promise.resolve({ step: 'acknowledged' })
    const ends: FollowUp[] = [{ step: 'stale' }, { step: 'orphaned' }, { step: 'confirmed', depth: 1 }]
    for (const [index, end] of ends.entries()) {
      source.end = Promise.resolve(end)
      await source.give(easyWork(BigInt(index + 10)))
      await engine.claim(solve(engine.newest.bytes))
    }
    expect((await ended).solutions).toMatchObject({ accepted: 1, stale: 2, orphaned: 1, rejected: 1, lost: 1 })
    expect(stop.signal.aborted).toBe(false)
  })

  it('the miner submits every solution of a job that takes many, at its own easier target', async () => {
    const { source, engine, events, stop, ended } = await started()
    const work = easyWork(1n, 1_000_000_000n)
    await source.give(work, 'newCut', { manySolutions: true, target: MAX_TARGET / 2n, id: 'shares' })
    expect(engine.newest.target).toBe(MAX_TARGET / 2n)
    const found: Uint8Array[] = []
    for (let nonce = 0n; found.length < 3; nonce++) {
      const bytes = withNonce(work.bytes, nonce)
      if (meets(powHash(bytes), MAX_TARGET / 2n)) found.push(bytes)
    }
    for (const bytes of found) await engine.claim(bytes)
    expect(source.submitted).toEqual(found)
    const ends = solutionsIn(events).filter(({ verdict }) => verdict !== null)
    expect(ends.map(({ job, issuer, verdict }) => [job, issuer, verdict])).toEqual(
      found.map(() => ['shares', 'test', 'accepted']),
    )
    stop.abort()
    await ended
  })

  it('the miner stops after the duration', async () => {
    const { clock, ended } = await started({ durationMs: 90_000 })
    await clock.pass(90_000)
    expect((await ended).uptimeMs).toBe(90_000)
    expect(clock.pending).toBe(0)
  })

  it('a miner that is stopped waits for a pending submission, but only for 800 ms', async () => {
    const { clock, source, engine, events, stop, ended } = await started()
    source.receipt = new Promise(() => undefined)
    await source.give(easyWork(1n))
    await engine.claim(solve(engine.newest.bytes))
    stop.abort()
    await clock.pass(799)
    let done = false
    void ended.then(() => {
      done = true
    })
    await settle()
    expect(done).toBe(false)
    await clock.pass(1)
    expect((await ended).solutions).toMatchObject({ accepted: 0, lost: 1 })
    expect(solutionsIn(events).at(-1)).toMatchObject({ step: 'lost', reason: 'stopped' })
  })

  it('the miner reports nothing about a solution that is answered after the miner has ended', async () => {
    const { clock, source, engine, events, stop, ended } = await started()
    let answer: (receipt: Receipt) => void = () => undefined
    source.receipt = new Promise((resolve) => (answer = resolve))
    await source.give(easyWork(1n))
    await engine.claim(solve(engine.newest.bytes))
    stop.abort()
    await clock.pass(800)
    expect((await ended).solutions).toMatchObject({ lost: 1 })
    const told = events.length
    answer({ step: 'acknowledged' })
    await settle()
    expect(events.slice(told)).toEqual([])
  })

  it('the miner counts a block confirmed at several depths once, and as orphaned if it is orphaned later', async () => {
    const { source, engine, events, stop, ended } = await started()
    const steps: FollowUp[] = [{ step: 'confirmed', depth: 1 }, { step: 'confirmed', depth: 2 }, { step: 'orphaned' }]
    source.follow = async function* () {
      yield* steps
    }
    await source.give(easyWork(1n))
    await engine.claim(solve(engine.newest.bytes))
    expect(solutionsIn(events).map(({ verdict }) => verdict)).toEqual([null, null, null, 'accepted', null, 'orphaned'])
    stop.abort()
    expect((await ended).solutions).toMatchObject({ accepted: 0, orphaned: 1 })
  })

  it('the miner counts a solution as unconfirmed if its life ends without a verdict', async () => {
    const { source, engine, stop, ended } = await started()
    source.follow = async function* () {
      yield* []
    }
    await source.give(easyWork(1n))
    await engine.claim(solve(engine.newest.bytes))
    stop.abort()
    expect((await ended).solutions).toMatchObject({ accepted: 0, unconfirmed: 1, lost: 0 })
  })

  it('the miner counts a solution as unconfirmed if it was acknowledged before the stop', async () => {
    const { clock, source, engine, stop, ended } = await started()
    source.end = new Promise(() => undefined)
    await source.give(easyWork(1n))
    await engine.claim(solve(engine.newest.bytes))
    stop.abort()
    await clock.pass(800)
    expect((await ended).solutions).toMatchObject({ accepted: 0, unconfirmed: 1, lost: 0 })
  })

  it('the miner reports a solution, with its work, before it submits it', async () => {
    const { source, engine, events, stop, ended } = await started()
    const submittedWhenFound: number[] = []
    source.onHandIn = () => submittedWhenFound.push(solutionsIn(events).filter(({ step }) => step === 'found').length)
    await source.give(easyWork(1n))
    const bytes = solve(engine.newest.bytes)
    await engine.claim(bytes)
    expect(submittedWhenFound).toEqual([1])
    expect(solutionsIn(events)[0]).toMatchObject({ step: 'found', work: encodeBase64Url(bytes), verdict: null })
    stop.abort()
    await ended
  })

  it('the miner counts a block that was stale at first as accepted, and as nothing else', async () => {
    const { source, engine, events, stop, ended } = await started()
    source.follow = async function* () {
      yield { step: 'stale', mayReturn: true }
      yield { step: 'confirmed', depth: 2 }
      yield { step: 'confirmed', depth: 6 }
    }
    await source.give(easyWork(7n), 'start')
    await engine.claim(solve(engine.newest.bytes))
    expect(solutionsIn(events).slice(3)).toMatchObject([
      { step: 'stale', verdict: 'stale', wasDecided: false, counts: { stale: 1, accepted: 0 } },
      { step: 'confirmed', verdict: 'accepted', wasDecided: true, counts: { stale: 0, accepted: 1 } },
      { step: 'confirmed', verdict: null, wasDecided: true },
    ])
    stop.abort()
    expect((await ended).solutions).toMatchObject({ accepted: 1, stale: 0 })
  })

  it('the miner counts an unanswered solution as accepted once its block is in the chain', async () => {
    const { source, engine, events, stop, ended } = await started()
    source.receipt = Promise.resolve({ step: 'lost', reason: 'unreachable', message: 'away', mayReturn: true })
    source.follow = async function* () {
      yield { step: 'unconfirmed', message: 'nobody can be asked' }
      yield { step: 'stale', mayReturn: true }
      yield { step: 'confirmed', depth: 2 }
      yield { step: 'orphaned' }
    }
    await source.give(easyWork(7n), 'start')
    await engine.claim(solve(engine.newest.bytes))
    expect(solutionsIn(events).slice(2)).toMatchObject([
      { step: 'lost', verdict: 'lost', counts: { lost: 1, accepted: 0 } },
      { step: 'confirmed', verdict: 'accepted', counts: { lost: 0, accepted: 1 } },
      { step: 'orphaned', verdict: 'orphaned', counts: { lost: 0, orphaned: 1, accepted: 0 } },
    ])
    stop.abort()
    await ended
  })

  it.each<Receipt>([
    { step: 'lost', reason: 'unreachable', message: 'away', mayReturn: true },
    { step: 'stale', mayReturn: true },
  ])('the miner repeats a verdict as final when the chain has advanced without the solution: %o', async (receipt) => {
    const { source, engine, events, stop, ended } = await started()
    source.receipt = Promise.resolve(receipt)
    source.follow = async function* () {
      yield { step: 'stale', mayReturn: true }
      yield { step: 'stale' }
    }
    await source.give(easyWork(7n), 'start')
    await engine.claim(solve(engine.newest.bytes))
    const { step } = receipt
    const told = solutionsIn(events).slice(2)
    expect(told).toMatchObject([
      { step, verdict: step, mayReturn: true },
      { step, verdict: null },
    ])
    expect(told[1]).not.toHaveProperty('mayReturn')
    stop.abort()
    expect((await ended).solutions).toMatchObject({ [step]: 1 })
  })

  describe('solution of an earlier run', () => {
    const bytes = solve(easyWork(1n).bytes)
    const wallMs = new VirtualClock().wallMs()
    const left = { bytes, issuer: 'test', device: 'thread7', effort: 2, foundAtMs: wallMs, isAcknowledged: false }

    it.each([
      ['', wallMs],
      [', however old the clock says that it is', wallMs - 24 * 3600 * 1000],
    ])(
      'the miner submits a solution of an earlier run and counts its verdict, but not for the number of blocks%s',
      async (_when, foundAtMs) => {
        const { source, events, stop, ended } = await started({ blocks: 1 }, [{ ...left, foundAtMs, verdict: null }])
        await source.give(easyWork(1n))
        expect(source.submitted).toEqual([bytes])
        expect(solutionsIn(events).at(-1)).toMatchObject({ verdict: 'accepted', device: 'thread7', effort: 2 })
        expect(stop.signal.aborted).toBe(false)
        stop.abort()
        expect((await ended).solutions).toMatchObject({ accepted: 1 })
      },
    )

    it('the miner only follows a solution of an earlier run that was acknowledged', async () => {
      const { source, events, stop, ended } = await started({}, [{ ...left, verdict: null, isAcknowledged: true }])
      await source.give(easyWork(1n))
      expect(source.submitted).toEqual([])
      expect(solutionsIn(events).map(({ step }) => step)).toEqual(['confirmed'])
      stop.abort()
      await ended
    })

    it('the miner resumes a solution at once if it becomes known while mining, and not after the end', async () => {
      const { source, miner, stop, ended } = await started()
      await source.give(easyWork(1n))
      let end: (news: FollowUp) => void = () => undefined
      source.end = new Promise((resolve) => (end = resolve))
      miner.resumeUnfinished([{ ...left, verdict: null }])
      await settle()
      expect(source.submitted).toEqual([bytes])
      miner.resumeUnfinished([{ ...left, verdict: null }])
      await settle()
      expect(source.submitted, 'it lives already').toEqual([bytes])
      end({ step: 'confirmed', depth: 1 })
      await settle()
      stop.abort()
      await ended
      miner.resumeUnfinished([{ ...left, verdict: null }])
      await settle()
      expect(source.submitted).toEqual([bytes])
    })

    it('the miner does not count a solution again if the earlier run counted it', async () => {
      const unfinished = [{ ...left, isAcknowledged: true, verdict: 'accepted' as const }]
      const { source, events, stop, ended } = await started({}, unfinished)
      source.end = Promise.resolve({ step: 'orphaned' })
      await source.give(easyWork(1n))
      expect(solutionsIn(events).at(-1)).toMatchObject({ verdict: 'orphaned' })
      stop.abort()
      expect((await ended).solutions).toMatchObject({ accepted: 0, orphaned: 0 })
    })
  })

  it('a miner that is stopped does not wait for engines that are starting', async () => {
    const clock = new VirtualClock()
    const engine = new HandEngine(new Promise<never>(() => undefined))
    const events: MinerEvent[] = []
    const stop = new AbortController()
    const onEvent = (event: MinerEvent) => void events.push(event)
    const ended = new Miner({ source: new FedSource(clock), engines: [engine], clock, onEvent }).run(stop.signal)
    await settle()
    stop.abort()
    expect(await ended).toMatchObject({ hashes: 0, devices: [] })
    expect(engine.stopped).toBe(true)
    expect(events.filter(({ type }) => type === 'ready')).toEqual([])
  })

  it('the miner moves the creation time of unsolved work forward with the validator, never back', async () => {
    const { clock, source, engine, stop, ended } = await started()
    const work = easyWork(1n)
    await source.give(work)
    await clock.pass(5_000)
    expect(engine.works).toHaveLength(1)
    source.time = work.fields.creationTime - 1n
    await clock.pass(5_000)
    expect(engine.works).toHaveLength(1)
    source.time = work.fields.creationTime + 5_000_000n
    await clock.pass(5_000)
    expect(engine.newest.bytes).toEqual(withCreationTime(work.bytes, source.time))
    const solution = solve(engine.newest.bytes)
    await engine.claim(solution)
    expect(source.submitted).toEqual([solution])
    // Solved work gets no newer creation time.
    source.time += 5_000_000n
    await clock.pass(5_000)
    expect(engine.works).toHaveLength(2)
    stop.abort()
    await ended
  })

  it('the miner accepts a claim for the first version of its job, however often the creation time has moved since', async () => {
    const { clock, source, engine, stop, ended } = await started()
    await source.give(easyWork(1n))
    const work = easyWork(2n)
    await source.give(work)
    const first = engine.newest
    for (let i = 1n; i <= 300n; i++) {
      source.time = work.fields.creationTime + i * 5_000_000n
      await clock.pass(5_000)
    }
    expect(engine.newest.sequence).toBe(first.sequence + 300)
    const then = engine.works.find(({ sequence }) => sequence === first.sequence + 1)
    // The miner has forgotten its old variant with a later creation time.
    await engine.claim(solve(then?.bytes ?? new Uint8Array()), first.sequence + 1)
    expect(source.submitted).toEqual([])
    const solution = solve(first.bytes)
    await engine.claim(solution, first.sequence)
    expect(source.submitted).toEqual([solution])
    stop.abort()
    await ended
  })

  it('the miner measures effort in expected solutions, over changes of difficulty', async () => {
    const { source, engine, events, stop, ended } = await started()
    await source.give(easyWork(1n, 100n), 'start')
    engine.hashed = 150
    await source.give(easyWork(2n, 50n))
    engine.hashed = 200
    await engine.claim(solve(engine.newest.bytes))
    expect(solutionsIn(events)[0].effort).toBeCloseTo(1.5 + 1)
    // Hashes between a solution and new work do not count as effort.
    engine.hashed = 1000
    await source.give(easyWork(3n, 50n))
    engine.hashed = 1025
    await engine.claim(solve(engine.newest.bytes))
    expect(solutionsIn(events).at(-1)?.effort).toBeCloseTo(0.5)
    stop.abort()
    await ended
  })

  it('the miner excludes hashes between a solution and its claim from effort and luck', async () => {
    const { source, engine, events, miner, stop, ended } = await started()
    await source.give(easyWork(1n, 100n), 'start')
    engine.hashed = 500
    await engine.claim(solve(engine.newest.bytes), engine.newest.sequence, { hashesSince: 450 })
    expect(solutionsIn(events)[0].effort).toBeCloseTo(0.5)
    expect(miner.snapshot().results.expected).toBeCloseTo(0.5)
    stop.abort()
    await ended
  })

  it('the miner counts the hashes of the next job in full when the claim for a solution is late', async () => {
    const { source, engine, events, miner, stop, ended } = await started()
    await source.give(easyWork(1n, 100n), 'start')
    const first = engine.newest
    // The nonce is found after 100 hashes, the job is replaced after 300, and the claim arrives after 350.
    engine.hashed = 300
    await source.give(easyWork(2n, 50n), 'better')
    engine.hashed = 350
    await engine.claim(solve(first.bytes), first.sequence, { hashesSince: 250 })
    expect(solutionsIn(events)[0].effort).toBeCloseTo(1 + 1)
    expect(miner.snapshot().results.expected).toBeCloseTo(1 + 1)
    engine.hashed = 400
    // An engine that reports more hashes than were made takes no effort from other solutions.
    await engine.claim(solve(engine.newest.bytes), engine.newest.sequence, { hashesSince: 390 })
    expect(solutionsIn(events).at(-1)?.effort).toBe(0)
    expect(miner.snapshot().results.expected).toBe(0)
    stop.abort()
    await ended
  })

  it('the miner excludes hashes while the last requested block is pending', async () => {
    const { source, engine, miner, ended } = await started({ blocks: 1 })
    let answer: (end: FollowUp) => void = () => undefined
    source.end = new Promise((resolve) => {
      answer = resolve
    })
    await source.give(easyWork(1n, 100n), 'start')
    engine.hashed = 100
    await engine.claim(solve(engine.newest.bytes))
    await source.give(easyWork(2n, 100n), 'solved')
    engine.hashed = 400
    await engine.claim(solve(engine.newest.bytes), engine.newest.sequence, { hashesSince: 250 })
    engine.hashed = 1000
    expect(miner.snapshot().results).toMatchObject({ found: 1, expected: 1.5 })
    answer({ step: 'confirmed', depth: 1 })
    expect((await ended).results).toMatchObject({ found: 1, expected: 1.5, effort: 0.5 })
  })

  it('the miner counts a share in full: its job is searched further', async () => {
    const { source, engine, events, stop, ended } = await started()
    await source.give(easyWork(1n, 100n), 'start', { manySolutions: true })
    engine.hashed = 500
    await engine.claim(solve(engine.newest.bytes), engine.newest.sequence, { hashesSince: 450 })
    expect(solutionsIn(events)[0].effort).toBeCloseTo(5)
    stop.abort()
    await ended
  })

  describe('paused miner', () => {
    const typesIn = (events: MinerEvent[]) => events.map(({ type }) => type)

    it('a paused miner gives engines no work, and the newest job when it resumes', async () => {
      const { clock, source, engine, events, miner, stop, ended } = await started()
      await source.give(easyWork(1n), 'start')
      miner.pause()
      miner.pause()
      expect(engine.works.map(({ bytes }) => bytes === null)).toEqual([false, true])
      expect(miner.snapshot()).toMatchObject({ paused: true, work: null, hashrates: { '10s': 0 } })
      await source.give(easyWork(2n))
      await source.give(easyWork(3n))
      await clock.pass(60_000)
      expect(engine.works).toHaveLength(2)
      miner.resume()
      miner.resume()
      await settle()
      expect(decodeWork(engine.newest.bytes).height).toBe(3n)
      expect(typesIn(events)).toEqual(['ready', 'work', 'paused', 'speed', 'speed', 'resumed', 'work'])
      // The pause does not count as switching time.
      expect(events.at(-1)).toMatchObject({ reason: 'start', preemptMs: 0, height: 3 })
      expect(miner.snapshot()).toMatchObject({ paused: false, preemptions: 0, work: { height: 3 } })
      stop.abort()
      await ended
    })

    it('a miner searches only when no cause of a pause is left, and reports the foremost cause', async () => {
      const { source, engine, events, miner, stop, ended } = await started()
      await source.give(easyWork(1n), 'start')
      miner.hold('load', 'while others work')
      miner.hold('load', 'while others work more')
      expect(miner.snapshot()).toMatchObject({ paused: true, pauses: [{ by: 'load', text: 'while others work more' }] })
      miner.hold('schedule', 'until 22:00')
      miner.pause()
      miner.hold('schedule', null)
      miner.hold('load', null)
      await settle()
      expect(engine.works).toHaveLength(2)
      expect(miner.paused).toBe(true)
      miner.resume()
      await settle()
      miner.hold('schedule', 'until 22:00')
      miner.resume()
      await settle()
      expect(miner.snapshot()).toMatchObject({ paused: false, pauses: [] })
      const told = events.filter(({ type }) => type === 'paused' || type === 'resumed')
      expect(told.map((event) => (event.type === 'paused' ? event.by : event.type))).toEqual([
        ...['load', 'schedule', 'user', 'resumed'],
        ...['schedule', 'resumed'],
      ])
      stop.abort()
      await ended
    })

    it('a paused miner loses no pending solution, and accepts late claims', async () => {
      const { source, engine, events, miner, stop, ended } = await started()
      let answer: (receipt: Receipt) => void = () => undefined
      source.receipt = new Promise((resolve) => {
        answer = resolve
      })
      await source.give(easyWork(1n))
      const [first, second] = [engine.newest, easyWork(2n)]
      await engine.claim(solve(first.bytes))
      await source.give(second)
      const { sequence } = engine.newest
      miner.pause()
      await engine.claim(solve(second.bytes), sequence)
      expect(source.submitted).toEqual([solve(first.bytes), solve(second.bytes)])
      answer({ step: 'acknowledged' })
      await settle()
      expect(solutionsIn(events).filter(({ verdict }) => verdict === 'accepted')).toHaveLength(2)
      stop.abort()
      expect((await ended).solutions).toMatchObject({ accepted: 2 })
    })

    it('a miner resumes the same job with the current creation time, and its solution is the only one', async () => {
      const { source, engine, miner, stop, ended } = await started()
      const work = easyWork(1n)
      await source.give(work, 'start')
      const { sequence } = engine.newest
      miner.pause()
      source.time = work.fields.creationTime + 9_000_000n
      miner.resume()
      await settle()
      expect(engine.newest.bytes).toEqual(withCreationTime(work.bytes, source.time))
      await engine.claim(solve(work.bytes), sequence)
      await engine.claim(solve(engine.newest.bytes))
      expect(source.submitted).toEqual([solve(work.bytes)])
      stop.abort()
      await ended
    })

    it('a miner that resumes without work is idle', async () => {
      const { clock, source, engine, events, miner, stop, ended } = await started()
      await source.give(easyWork(1n), 'start')
      miner.pause()
      await source.give(null)
      miner.resume()
      await clock.pass(500)
      expect(engine.works.at(-1)?.bytes).toBeNull()
      expect(typesIn(events).slice(-3)).toEqual(['paused', 'resumed', 'idle'])
      stop.abort()
      await ended
    })

    it('a paused miner counts no effort, and can be paused before its first job and after its end', async () => {
      const { source, engine, events, miner, stop, ended } = await started()
      miner.pause()
      await source.give(easyWork(1n, 100n), 'start')
      expect(engine.works.filter(({ bytes }) => bytes !== null)).toEqual([])
      engine.hashed = 500
      miner.resume()
      await settle()
      engine.hashed = 550
      await engine.claim(solve(engine.newest.bytes))
      expect(solutionsIn(events)[0].effort).toBeCloseTo(0.5)
      stop.abort()
      await ended
      miner.pause()
      expect(miner.paused).toBe(false)
      expect(typesIn(events).filter((type) => type === 'paused')).toEqual(['paused'])
    })
  })

  it('the snapshot shows no 10 s rate for a device from the moment it stops searching', async () => {
    const { clock, engine, miner, stop, ended } = await started()
    for (let second = 1; second <= 12; second++) {
      engine.hashed += 1000
      await clock.pass(1000)
    }
    const shown = () => {
      const { hashrates, devices, hardware } = miner.snapshot()
      return [hashrates, devices[0].hashrates, hardware[0].hashrates].map((rates) => rates['10s'])
    }
    expect(shown()).toEqual([1000, 1000, 1000])
    miner.pause()
    expect(shown()).toEqual([0, 0, 0])
    miner.resume()
    expect(shown()).toEqual([1000, 1000, 1000])
    const [device] = engine.devices()
    engine.devices = () => [{ ...device, state: 'unable', reason: 'it hangs' }]
    expect(shown()).toEqual([0, 0, 0])
    stop.abort()
    await ended
  })

  it('the snapshot shows rates of full windows only', async () => {
    const { clock, engine, miner, stop, ended } = await started()
    for (let second = 1; second <= 59; second++) {
      engine.hashed += 1000
      await clock.pass(1000)
      if (second === 9) expect(miner.snapshot().hashrates['10s']).toBeNull()
    }
    expect(miner.snapshot().hashrates).toMatchObject({ '60s': null, '15m': null })
    expect(miner.snapshot().hashrates['10s']).toBeCloseTo(1000)
    engine.hashed += 7000
    await clock.pass(1000)
    expect(miner.snapshot().hashrates['60s']).toBeCloseTo((59_000 + 7000) / 60)
    expect(miner.snapshot().devices[0]).toMatchObject({ engine: 'hand', device: 'd0', hashes: 66_000 })
    const [hardware] = miner.snapshot().hardware
    expect(hardware).toMatchObject({ name: 'd0', devices: ['d0'], hashes: 66_000, hashrates: { '15m': null } })
    // The last 10 s include one second at 7000.
    expect(hardware.hashrates.highest).toBeCloseTo(1600)
    expect(miner.snapshot().highestHashrate).toBeCloseTo(1600)
    await clock.pass(20_000)
    expect(miner.snapshot()).toMatchObject({ hashrates: { '10s': 0 }, highestHashrate: 1600 })
    stop.abort()
    await ended
  })
})
