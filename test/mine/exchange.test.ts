/** The exchange of engines while the miner mines. */
import { describe, expect, it } from 'vitest'
import { readU64LE } from '../../src/ground/base/bytes.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import type { EngineWork } from '../../src/mining/engine/engine.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import { Miner } from '../../src/mining/mine/miner.ts'
import { solve } from '../solve.ts'
import { easyWork, FedSource, HandEngine } from './by-hand.ts'
import { settle, VirtualClock } from './virtual-clock.ts'

/** An engine of threads whose counts the test sets. */
class Threads extends HandEngine {
  counts: number[]
  /** Whether it never acknowledges that it searches nothing. */
  isSlow = false

  constructor(counts: readonly number[], ready?: Promise<void>) {
    super(ready)
    this.counts = [...counts]
  }

  override setWork(work: EngineWork): Promise<boolean> {
    const taken = super.setWork(work)
    return this.isSlow && work.bytes === null ? new Promise(() => undefined) : taken
  }

  override hashes = () => this.counts.reduce((sum, count) => sum + count, 0)

  override devices = () =>
    this.counts.map((hashes, index) => ({
      device: `thread${index}`,
      hardware: 'cpu',
      kernel: 'none',
      hashes,
      faults: 1,
    }))
}

async function started(engine = new Threads([100, 50])) {
  const clock = new VirtualClock()
  const source = new FedSource(clock)
  const events: MinerEvent[] = []
  const stop = new AbortController()
  const miner = new Miner({ source, engines: [engine], clock, onEvent: (event) => events.push(event) })
  const ended = miner.run(stop.signal)
  await settle()
  return { clock, source, engine, events, stop, miner, ended }
}

const counted = (miner: Miner) => {
  const { hashes, devices, hardware } = miner.snapshot()
  const [{ devices: names, hashes: ofAll }] = hardware
  return { hashes, devices: devices.map((device) => [device.device, device.hashes, device.faults]), names, ofAll }
}

describe('exchange of engines', () => {
  it('the miner gives work to a new engine once that is ready, and none to the old one after that', async () => {
    const { clock, source, engine, events, stop, miner, ended } = await started()
    await source.give(easyWork(1n), 'start')
    let getReady: () => void = () => undefined
    const next = new Threads([0], new Promise((resolve) => (getReady = resolve)))
    const exchanged = miner.exchange([engine], [next])
    await settle()
    expect(next.works).toEqual([])
    expect(engine.works.at(-1)?.bytes).not.toBeNull()
    getReady()
    await settle()
    expect(next.newest.bytes).toEqual(engine.works.findLast(({ bytes }) => bytes !== null)?.bytes)
    expect(engine.works.at(-1)?.bytes).toBeNull()
    // Its sequence is higher than any before; otherwise the engine would ignore it.
    expect(engine.works.at(-1)?.sequence).toBeGreaterThan(next.newest.sequence)
    expect(engine.stopped).toBe(false)
    await clock.pass(100)
    await exchanged
    expect(engine.stopped).toBe(true)
    expect(events.filter(({ type }) => type === 'ready')).toHaveLength(2)
    await source.give(easyWork(2n))
    expect(next.newest.job).toBe(source.newestId)
    expect(engine.works.at(-1)?.bytes).toBeNull()
    stop.abort()
    await ended
    expect(next.stopped).toBe(true)
  })

  it('an exchange of engines loses no solution: neither a pending one, nor the last claims of the old engine', async () => {
    const { clock, source, engine, stop, miner, ended } = await started()
    let answer: () => void = () => undefined
    source.receipt = new Promise((resolve) => (answer = () => resolve({ step: 'acknowledged' })))
    await source.give(easyWork(1n), 'start')
    await engine.claim(solve(engine.newest.bytes))
    await source.give(easyWork(2n))
    const { sequence, bytes } = engine.newest
    const exchanged = miner.exchange([engine], [new Threads([0])])
    await settle()
    await engine.claim(solve(bytes), sequence)
    expect(source.submitted.map((each) => readU64LE(each, each.length - 8))).toHaveLength(2)
    answer()
    await clock.pass(100)
    await exchanged
    expect(miner.snapshot().solutions).toMatchObject({ accepted: 2, lost: 0, stale: 0 })
    expect(miner.snapshot().hardware[0].solutions).toMatchObject({ accepted: 0 })
    stop.abort()
    await ended
  })

  it('an exchange of engines keeps the counts of a device that returns, of the processor, and of all together', async () => {
    const { clock, engine, stop, miner, ended } = await started()
    await clock.pass(20_000)
    const one = new Threads([0])
    const exchanged = miner.exchange([engine], [one])
    await settle()
    // Both engines count until the first has ended.
    engine.counts = [110, 60]
    one.counts = [7]
    expect(counted(miner)).toEqual({ hashes: 177, devices: [['thread0', 117, 2]], names: ['thread0'], ofAll: 177 })
    await clock.pass(100)
    await exchanged
    expect(counted(miner)).toEqual({ hashes: 177, devices: [['thread0', 117, 2]], names: ['thread0'], ofAll: 177 })
    expect(miner.snapshot().hardware[0].hashrates['10s']).not.toBeNull()
    const three = new Threads([1, 2, 3])
    const again = miner.exchange([one], [three])
    await clock.pass(100)
    await again
    expect(counted(miner)).toEqual({
      hashes: 183,
      devices: [
        ['thread0', 118, 3],
        ['thread1', 62, 2],
        ['thread2', 3, 1],
      ],
      names: ['thread0', 'thread1', 'thread2'],
      ofAll: 183,
    })
    stop.abort()
    expect((await ended).hashes).toBe(183)
  })

  it('an exchange changes nothing when the new engine does not start', async () => {
    const { source, engine, stop, miner, ended } = await started()
    await source.give(easyWork(1n), 'start')
    const works = engine.works.length
    const refusal = Promise.reject(new NewcutError('KERNEL_REFUSED', 'no search kernel works here'))
    const broken = new Threads([9], refusal)
    const fine = new Threads([9])
    await expect(miner.exchange([engine], [fine, broken])).rejects.toThrow('no search kernel works here')
    expect(fine.stopped).toBe(true)
    expect(broken.stopped).toBe(true)
    expect(engine.stopped).toBe(false)
    expect(engine.works.length).toEqual(works)
    expect(miner.snapshot().hashes).toBe(150)
    stop.abort()
    await ended
  })

  it('an exchange of engines waits at most 3 s for an engine that does not acknowledge its pause', async () => {
    const { clock, source, engine, stop, miner, ended } = await started()
    await source.give(easyWork(1n), 'start')
    engine.isSlow = true
    const exchanged = miner.exchange([engine], [new Threads([0])])
    await clock.pass(2900)
    expect(engine.stopped).toBe(false)
    await clock.pass(300)
    await exchanged
    expect(engine.stopped).toBe(true)
    stop.abort()
    await ended
  })

  it('an exchange has ended when the old engine has', async () => {
    const { clock, engine, stop, miner, ended } = await started()
    let end: () => void = () => undefined
    const slow = new Promise<void>((resolve) => (end = resolve))
    engine.stop = () => slow
    let isOver = false
    const exchanged = miner.exchange([engine], [new Threads([0])]).then(() => {
      isOver = true
    })
    await clock.pass(60_000)
    expect(isOver).toBe(false)
    end()
    await exchanged
    stop.abort()
    await ended
  })

  it('an exchange fails with the error of the old engine if that engine fails', async () => {
    const { clock, engine, stop, miner, ended } = await started()
    engine.stop = async () => {
      engine.stop = async () => undefined
      throw new NewcutError('KERNEL_REFUSED', 'the driver hangs')
    }
    const failure = expect(miner.exchange([engine], [new Threads([0])])).rejects.toThrow('the driver hangs')
    await clock.pass(100)
    await failure
    stop.abort()
    await ended
  })

  it('an exchange gives no work during a pause, and the work when mining resumes', async () => {
    const { clock, source, engine, stop, miner, ended } = await started()
    await source.give(easyWork(1n), 'start')
    miner.pause()
    const next = new Threads([0])
    const exchanged = miner.exchange([engine], [next])
    await clock.pass(100)
    await exchanged
    expect(next.works.every(({ bytes }) => bytes === null)).toBe(true)
    miner.resume()
    await settle()
    expect(next.newest.job).toBe(source.newestId)
    stop.abort()
    await ended
  })

  it('the miner ends all engines when it ends during an exchange', async () => {
    const { engine, stop, miner, ended } = await started()
    let getReady: () => void = () => undefined
    const next = new Threads([0], new Promise((resolve) => (getReady = resolve)))
    const exchanged = miner.exchange([engine], [next])
    await settle()
    stop.abort()
    await ended
    expect(engine.stopped).toBe(true)
    expect(next.stopped).toBe(true)
    getReady()
    await exchanged
    await miner.exchange([engine], [new Threads([5])])
    expect(miner.snapshot().hashes).toBe(150)
  })
})
