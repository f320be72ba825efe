import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { withNonce } from '../../src/ground/chain/header.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { kernelTuningFileOf } from '../../src/mining/engine/cache-folder.ts'
import { CpuEngine, type CpuEngineOptions } from '../../src/mining/engine/cpu/cpu.ts'
import { chooseNative, loadChosen } from '../../src/mining/engine/cpu/native-choice.ts'
import { nativeNames, schedulesIn } from '../../src/mining/engine/cpu/native-kernel.ts'
import { rememberedSchedules } from '../../src/mining/engine/cpu/native-schedule.ts'
import type { Priority } from '../../src/mining/engine/cpu/priority.ts'
import { type Candidate, noWork } from '../../src/mining/engine/engine.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { itWith } from '../needs.ts'
import { engineWork, freshWork, UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'

const native = loadChosen(chooseNative())
/** The widest kernel with several orders. */
const [raced] = nativeNames.filter((name) => schedulesIn(native, name).length > 1)
const noOrders = raced === undefined ? 'no native kernel has several orders on this machine' : null

const engines: CpuEngine[] = []
afterEach(async () => {
  delete process.env.TEST_FAULT
  delete process.env.TEST_MARK
  for (const engine of engines.splice(0)) await engine.stop()
})

async function started(threads: number, priority: Priority = 'low', options: Partial<CpuEngineOptions> = {}) {
  const ranges = nonceRanges(threads, Math.random)
  const engine = new CpuEngine({ ranges, kernel: 'auto', priority, clock: systemClock, ...options })
  engines.push(engine)
  const candidates: Candidate[] = []
  const hashesAtClaims: number[] = []
  const warnings: string[] = []
  await engine.start(286, {
    onCandidate: (candidate) => {
      hashesAtClaims.push(engine.hashes())
      candidates.push(candidate)
    },
    onWarning: (message) => warnings.push(message),
  })
  const hashes = () => engine.hashes()
  return { engine, candidates, hashesAtClaims, warnings, hashes }
}

/** Keeps this thread busy, so that nothing else runs on it. */
function blockFor(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

describe('the CPU engine', () => {
  it('the CPU engine finds nonces that solve, none twice, on all threads', async () => {
    const { engine, candidates } = await started(3)
    const work = freshWork(UNREACHABLE)
    const target = MAX_TARGET / 100_000n
    expect(await engine.setWork(engineWork(7, work, target))).toBe(true)
    await until(() => new Set(candidates.map(({ device }) => device)).size === 3)
    for (const { sequence, nonce } of candidates) {
      expect(sequence).toBe(7)
      expect(meets(powHash(withNonce(work, nonce)), target)).toBe(true)
    }
    expect(new Set(candidates.map(({ nonce }) => nonce)).size).toBe(candidates.length)
    for (const { kernel, hashes, faults } of engine.devices()) {
      expect(kernel).not.toBe('n/a')
      expect(hashes).toBeGreaterThan(0)
      expect(faults).toBe(0)
    }
  })

  itWith(
    noOrders,
    'the CPU engine races the orders of a native kernel on all threads, and remembers the fastest',
    async () => {
      const cache = mkdtempSync(join(tmpdir(), 'newcut-race-'))
      const before = process.env.XDG_CACHE_HOME
      process.env.XDG_CACHE_HOME = cache
      onTestFinished(() => {
        if (before === undefined) delete process.env.XDG_CACHE_HOME
        else process.env.XDG_CACHE_HOME = before
        rmSync(cache, { recursive: true })
      })
      const { engine, candidates, warnings } = await started(2, 'low', { kernel: raced })
      const work = freshWork(UNREACHABLE)
      const target = MAX_TARGET / 100_000n
      await engine.setWork(engineWork(1, work, target))
      const file = kernelTuningFileOf(process.env, process.platform)
      await until(() => existsSync(file))
      const { orders, isUnknown } = rememberedSchedules(native, file, raced)
      expect(schedulesIn(native, raced)).toContain(orders[raced])
      expect(isUnknown).toBe(false)
      expect(warnings).toEqual([])
      const found = candidates.length
      await until(() => candidates.length > found + 2)
      for (const { nonce } of candidates) expect(meets(powHash(withNonce(work, nonce)), target)).toBe(true)
    },
  )

  it('the CPU engine counts exactly its hashes: the number of candidates matches', async () => {
    const { engine, candidates, hashes } = await started(1)
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE), MAX_TARGET / 100_000n))
    await until(() => candidates.length >= 32)
    // Once the thread has taken up the empty work, no slice is in progress.
    await engine.setWork(noWork(2))
    const perCandidate = hashes() / candidates.length
    // With 32 candidates or more the mean is off by a factor of 5 once in 10^12 runs.
    expect(perCandidate).toBeGreaterThan(20_000)
    expect(perCandidate).toBeLessThan(500_000)
  })

  it('the CPU engine reports with each claim the hashes after it, also while the main thread was busy', async () => {
    const { engine, candidates, hashesAtClaims, hashes } = await started(1)
    void engine.setWork(engineWork(1, freshWork(UNREACHABLE), MAX_TARGET / 100_000n))
    while (hashes() < 3_000_000) blockFor(2)
    await until(() => candidates.length >= 20)
    const foundAt = candidates.map(({ hashesSince = 0 }, index) => hashesAtClaims[index] - hashesSince)
    // The 1st candidate is among the first million hashes and the 20th after 200,000, except once in 20,000 runs.
    expect(candidates[0].hashesSince).toBeGreaterThan(2_000_000)
    expect(foundAt[0]).toBeGreaterThan(0)
    expect(foundAt[19]).toBeGreaterThan(200_000)
  })

  it('the CPU engine resolves true for the newest of several works and false for the others', async () => {
    const { engine } = await started(2)
    const give = (sequence: number) => engine.setWork(engineWork(sequence, freshWork(UNREACHABLE), 0n))
    const answers = await Promise.all([give(1), give(2), give(3)])
    expect(answers).toEqual([false, false, true])
  })

  it('the CPU engine hashes nothing without work, and resumes with new work', async () => {
    const { engine, hashes } = await started(2)
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 0n))
    await until(() => hashes() > 0)
    await engine.setWork(noWork(2))
    const before = hashes()
    for (let sequence = 3; sequence < 20; sequence++) {
      expect(await engine.setWork(noWork(sequence))).toBe(true)
      expect(hashes()).toBe(before)
    }
    await engine.setWork(engineWork(20, freshWork(UNREACHABLE), 0n))
    await until(() => hashes() > before)
  })

  it('the CPU engine limits the rate of candidates for a target that every hash meets', async () => {
    const { engine, candidates } = await started(1)
    // The bound is a rate, so the test must measure time. A slow machine only makes the bound easier to keep.
    const startMs = performance.now()
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE), MAX_TARGET))
    await until(() => candidates.length > 60)
    // A burst of 8, then one every 5 ms.
    expect(candidates.length).toBeLessThan(20 + (performance.now() - startMs) / 5)
  })

  it.each([178, 214, 250, 286])('the CPU engine searches work of %i bytes', async (workBytes) => {
    // The engine tests a kernel for another length while it mines, which is slow at low priority on a busy machine.
    const { engine, candidates, warnings } = await started(1, 'normal')
    const work = freshWork(UNREACHABLE, (workBytes - 178) / 36)
    expect(work).toHaveLength(workBytes)
    await engine.setWork(engineWork(1, work, MAX_TARGET / 1000n))
    await until(() => candidates.length > 0)
    expect(meets(powHash(withNonce(work, candidates[0].nonce)), MAX_TARGET / 1000n)).toBe(true)
    expect(warnings).toEqual([])
  })

  it.each([5, 8, 9])('the CPU engine searches work of degree %i', async (degree) => {
    const { engine, candidates, warnings } = await started(1, 'normal')
    const work = freshWork(UNREACHABLE, degree)
    expect(await engine.setWork(engineWork(1, work, MAX_TARGET / 1000n))).toBe(true)
    await until(() => candidates.length > 0)
    expect(meets(powHash(withNonce(work, candidates[0].nonce)), MAX_TARGET / 1000n)).toBe(true)
    expect(warnings).toEqual([])
  })

  it.each([[10], [1000]])(
    'the CPU engine warns of bytes that are longer than any work, and searches nothing: degree %i',
    async (degree) => {
      const { engine, candidates, warnings } = await started(1)
      const tooLong = new Uint8Array(178 + 36 * degree)
      for (const sequence of [1, 2]) {
        expect(await engine.setWork(engineWork(sequence, tooLong, MAX_TARGET))).toBe(true)
      }
      expect(warnings).toEqual([`work of ${tooLong.length} bytes is too long: the longest has 502`])
      expect(candidates).toEqual([])
      expect(engine.hashes()).toBe(0)
    },
  )

  it('the CPU engine restarts a dead thread, and meanwhile takes up new work without it', async () => {
    const mark = join(mkdtempSync(join(tmpdir(), 'newcut-')), 'mark')
    process.env.TEST_MARK = mark
    const module = new URL('./faulty-thread.mjs', import.meta.url)
    const clock = new VirtualClock()
    const { engine, warnings } = await started(2, 'normal', { module, clock, random: () => 0.999 })
    expect(await engine.setWork(engineWork(13, freshWork(UNREACHABLE), 0n))).toBe(true)
    await until(() => warnings.length > 0)
    expect(warnings).toEqual(['search thread 0 died and is started again in 0.999 s: the memory is full'])
    expect(engine.devices()).toMatchObject([
      { device: 'thread0', state: 'restarting', reason: 'it died: the memory is full', faults: 1 },
      { device: 'thread1', faults: 0 },
    ])
    expect(engine.devices()[1].state).toBeUndefined()
    const [{ hashes }] = engine.devices()
    await clock.pass(998)
    expect(engine.devices()[0].state).toBe('restarting')
    await clock.pass(1)
    await until(() => engine.devices()[0].state === undefined && engine.devices()[0].hashes > hashes)
    expect(await engine.setWork(engineWork(14, freshWork(UNREACHABLE), 0n))).toBe(true)
    expect(engine.devices()[0]).toMatchObject({ faults: 1 })
    expect(warnings).toHaveLength(1)
  })

  it('the CPU engine starts without a thread that dies before it is ready, and starts it again', async () => {
    process.env.TEST_MARK = join(mkdtempSync(join(tmpdir(), 'newcut-')), 'mark')
    process.env.TEST_FAULT = 'early'
    const module = new URL('./faulty-thread.mjs', import.meta.url)
    const clock = new VirtualClock()
    const { engine, warnings } = await started(1, 'normal', { module, clock, random: () => 0.5 })
    expect(warnings).toEqual(['search thread 0 died and is started again in 0.5 s: there is no memory'])
    expect(engine.devices()).toMatchObject([{ state: 'restarting', reason: 'it died: there is no memory', faults: 1 }])
    expect(await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 0n))).toBe(true)
    await clock.pass(500)
    await until(() => engine.devices()[0].state === undefined && engine.hashes() > 0)
    expect(warnings).toHaveLength(1)
  })

  it('the CPU engine replaces only the thread that hangs', async () => {
    process.env.TEST_MARK = join(mkdtempSync(join(tmpdir(), 'newcut-')), 'mark')
    process.env.TEST_FAULT = 'hang'
    const module = new URL('./faulty-thread.mjs', import.meta.url)
    const clock = new VirtualClock()
    const { engine, warnings } = await started(2, 'normal', { module, clock, random: () => 0.5 })
    void engine.setWork(engineWork(13, freshWork(UNREACHABLE), 0n))
    await until(() => existsSync(process.env.TEST_MARK ?? ''))
    /** Passes one second of virtual time; a searching thread first counts hashes in it. */
    const second = async (searches: boolean) => {
      const [, { hashes }] = engine.devices()
      if (searches) await until(() => engine.devices()[1].hashes > hashes)
      await clock.pass(1000)
    }
    for (let i = 0; i < 30; i++) await second(true)
    expect(warnings).toEqual([])
    for (let i = 0; i < 2; i++) await second(true)
    await until(() => warnings.length > 0)
    expect(warnings).toEqual(['search thread 0 hung and is started again in 0.5 s: no hash for 30 s'])
    const reason = 'it hung: no hash for 30 s'
    expect(engine.devices()).toMatchObject([{ state: 'restarting', reason, faults: 1 }, { faults: 0 }])
    const [{ hashes }] = engine.devices()
    await clock.pass(500)
    await until(() => engine.devices()[0].state === undefined && engine.devices()[0].hashes > hashes)
    // A thread without work reports no hashes either.
    expect(await engine.setWork(noWork(14))).toBe(true)
    for (let i = 0; i < 60; i++) await second(false)
    expect(warnings).toHaveLength(1)
  })

  it('the CPU engine stops while a thread hangs', async () => {
    process.env.TEST_MARK = join(mkdtempSync(join(tmpdir(), 'newcut-')), 'mark')
    process.env.TEST_FAULT = 'hang'
    const { engine } = await started(1, 'normal', { module: new URL('./faulty-thread.mjs', import.meta.url) })
    void engine.setWork(engineWork(13, freshWork(UNREACHABLE), 0n))
    await until(() => existsSync(process.env.TEST_MARK ?? ''))
    // The hung thread never ends by itself.
    await engine.stop()
    expect(await engine.setWork(engineWork(14, freshWork(UNREACHABLE), 0n))).toBe(false)
  })

  it('the CPU engine reports that there is no kernel for work whose nonce lies in two blocks', async () => {
    const { engine, warnings } = await started(1)
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE, 4), MAX_TARGET))
    await until(() => warnings.length > 0)
    expect(warnings.join()).toContain('the nonce of work of 322 bytes lies in two blocks')
  })

  it.each([
    ['auto', 'newcut devices tests all kernels; this machine may have a faulty processor or memory'],
    ['js', '`kernel: auto` picks a kernel that works here'],
  ] as const)(
    'the CPU engine refuses work whose nonce lies in two blocks with the kernel %s and the hint %s',
    async (kernel, hint) => {
      const options = { ranges: nonceRanges(1, Math.random), kernel, priority: 'low', clock: systemClock } as const
      const engine = new CpuEngine(options)
      engines.push(engine)
      const events = { onCandidate: () => undefined, onWarning: () => undefined }
      const refusal = await engine.start(322, events).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: 'KERNEL_REFUSED', message: expect.stringContaining('in two blocks'), hint })
    },
  )
})
