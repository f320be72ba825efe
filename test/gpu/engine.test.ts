/** The GPU engine with its child process, on each driver. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { withNonce } from '../../src/ground/chain/header.ts'
import { solves } from '../../src/ground/chain/pow.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { readTuningFile, tuningFileOf } from '../../src/mining/engine/cache-folder.ts'
import { CpuEngine } from '../../src/mining/engine/cpu/cpu.ts'
import { type Candidate, type Engine, noWork } from '../../src/mining/engine/engine.ts'
import { chooseAdapters, listAdapters, measureAdapter } from '../../src/mining/engine/gpu/adapters.ts'
import { loadDawn } from '../../src/mining/engine/gpu/dawn.ts'
import { GpuEngine, type GpuEngineOptions } from '../../src/mining/engine/gpu/gpu.ts'
import type { AdapterInfo } from '../../src/mining/engine/gpu/messages.ts'
import { readTuning } from '../../src/mining/engine/gpu/tuning.ts'
import { nonceRanges, splitRanges } from '../../src/mining/engine/range.ts'
import { engineWork, freshWork, UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'
import { gpuChildrenOf } from './children.ts'
import { type TestDriver, testDrivers } from './driver.ts'

const drivers = await testDrivers()
const thorough = drivers.filter(({ isThorough }) => isThorough)
const engines: GpuEngine[] = []

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop()
})

function create({ env }: TestDriver, options: Partial<GpuEngineOptions> = {}): GpuEngine {
  const engine = new GpuEngine({
    adapters: [null],
    ranges: nonceRanges(1, Math.random),
    allowSoftware: true,
    tuningFile: null,
    env,
    ...options,
  })
  engines.push(engine)
  return engine
}

/** Starts an engine and collects its reports. */
async function startEngine(own: Engine): Promise<{ candidates: Candidate[]; warnings: string[] }> {
  const candidates: Candidate[] = []
  const warnings: string[] = []
  const onCandidate = (candidate: Candidate) => void candidates.push(candidate)
  await own.start(286, { onCandidate, onWarning: (message) => void warnings.push(message) })
  return { candidates, warnings }
}

function workOf(sequence: number, difficulty: bigint) {
  const bytes = freshWork(difficulty)
  return { ...engineWork(sequence, bytes, workFromBytes(bytes).fields.target), bytes }
}

/** Whether no batch finishes while another engine starts and hashes: nothing reports that no batch is in flight. */
async function standsStill(own: GpuEngine, driver: TestDriver): Promise<boolean> {
  const before = own.devices()[0].hashes
  const other = create(driver)
  await startEngine(other)
  await other.setWork(workOf(1, UNREACHABLE))
  await until(() => other.hashes() > 0)
  await other.stop()
  return own.devices()[0].hashes === before
}

describe.each(drivers)('GPU engine on $name', (driver) => {
  it('the GPU engine finds solutions of each new work', async () => {
    const own = create(driver)
    const { candidates, warnings } = await startEngine(own)
    const works = [1, 2, 3].map((sequence) => workOf(sequence, 2000n))
    for (const work of works) {
      expect(await own.setWork(work)).toBe(true)
      await until(() => candidates.some(({ sequence }) => sequence === work.sequence))
    }
    for (const { sequence, nonce, device } of candidates) {
      expect(device).toBe('gpu0')
      expect(solves(withNonce(works[sequence - 1].bytes, nonce))).toBe(true)
    }
    expect(new Set(candidates.map(({ sequence, nonce }) => `${sequence} ${nonce}`)).size).toBe(candidates.length)
    expect(warnings).toEqual([])
  })

  it('the GPU engine reports every nonce, and each once, when every nonce solves', async () => {
    const own = create(driver)
    const { candidates } = await startEngine(own)
    await own.setWork({ ...workOf(1, 1n), target: 2n ** 256n - 1n })
    await until(() => candidates.length > 3000)
    await own.setWork(noWork(2))
    await until(() => standsStill(own, driver))
    expect(candidates.length).toBe(own.devices()[0].hashes)
    expect(new Set(candidates.map(({ nonce }) => nonce)).size).toBe(candidates.length)
  })

  it('the GPU engine answers replaced work with false, and stops searching without work', async () => {
    const own = create(driver)
    await startEngine(own)
    const [first, second] = [own.setWork(workOf(1, UNREACHABLE)), own.setWork(workOf(2, UNREACHABLE))]
    expect(await first).toBe(false)
    expect(await second).toBe(true)
    await until(() => own.devices()[0].hashes > 0)
    expect(await own.setWork(noWork(3))).toBe(true)
    // Batches in flight still count.
    await until(() => standsStill(own, driver))
  })

  if (driver.adapter.software) {
    it('the GPU engine refuses software drivers unless they are allowed, and does not try again', async () => {
      const own = create(driver, { allowSoftware: false })
      await expect(startEngine(own)).rejects.toMatchObject({
        code: 'KERNEL_REFUSED',
        message: expect.stringContaining('is a software driver'),
      })
    })
  }

  it('the GPU engine refuses a workgroup that is too large for the device', async () => {
    const most = driver.adapter.limits.invocationsPerWorkgroup
    const own = create(driver, { workgroup: 2 * most })
    await expect(startEngine(own)).rejects.toThrow(`takes workgroups of ${most} lanes at most`)
  })

  it('the GPU engine refuses to start for work that the shader does not support', async () => {
    const events = { onCandidate: () => undefined, onWarning: () => undefined }
    await expect(create(driver).start(250, events)).rejects.toMatchObject({ code: 'KERNEL_REFUSED' })
  })

  it('the GPU engine warns of work that the shader does not support', async () => {
    const own = create(driver)
    const { warnings } = await startEngine(own)
    expect(await own.setWork(engineWork(1, freshWork(2n, 2), 1n))).toBe(true)
    expect(warnings).toEqual(['the GPU cannot search work of 250 bytes'])
  })
})

describe.each(thorough)('GPU engine on $name, at length', (driver) => {
  it('the GPU engine finds as many solutions as its hashes should, over 12 works, and each solves', async () => {
    const difficulty = 2_000n * BigInt(driver.speed)
    const own = create(driver)
    const { candidates, warnings } = await startEngine(own)
    const works = Array.from({ length: 12 }, (_, index) => workOf(index + 1, difficulty))
    for (const work of works) {
      const before = own.hashes()
      expect(await own.setWork(work)).toBe(true)
      await until(() => own.hashes() > before + 10 * Number(difficulty))
    }
    await own.setWork(noWork(works.length + 1))
    await until(() => standsStill(own, driver))
    const expected = own.hashes() / Number(difficulty)
    expect(expected).toBeGreaterThan(100)
    expect(Math.abs(candidates.length - expected)).toBeLessThan(6 * Math.sqrt(expected))
    for (const { sequence, nonce } of candidates) {
      expect(solves(withNonce(works[sequence - 1].bytes, nonce))).toBe(true)
    }
    expect(new Set(candidates.map(({ sequence, nonce }) => `${sequence} ${nonce}`)).size).toBe(candidates.length)
    expect(warnings).toEqual([])
  })

  it('the GPU engine brings batches to the requested service time', async () => {
    const own = create(driver, { batchMs: 40 })
    await startEngine(own)
    await own.setWork(workOf(1, UNREACHABLE))
    const meanOf = async (batches: number) => {
      const before = own.details()[0].batches
      await until(() => own.details()[0].batches.count >= before.count + batches)
      const after = own.details()[0].batches
      return (after.serviceMs - before.serviceMs) / (after.count - before.count)
    }
    // Other programs may take the processor from a software driver for a while.
    await until(async () => Math.abs((await meanOf(10)) - 40) < 20)
  })

  it('the GPU engine finds different nonces than the CPU engine beside it', async () => {
    const [gpuRanges, cpuRanges] = splitRanges([1, 1], Math.random)
    const gpu = create(driver, { ranges: gpuRanges })
    const cpu = new CpuEngine({ ranges: cpuRanges, kernel: 'auto', priority: 'normal', clock: systemClock })
    const found = [await startEngine(gpu), await startEngine(cpu)]
    try {
      const work = workOf(1, 20n)
      await Promise.all([gpu.setWork(work), cpu.setWork(work)])
      await until(() => found.every(({ candidates }) => candidates.length > 100))
    } finally {
      await cpu.stop()
    }
    const nonces = found.flatMap(({ candidates }) => candidates.map(({ nonce }) => nonce))
    expect(new Set(nonces).size).toBe(nonces.length)
    // Each of the two engines has its own half of the middle bits.
    const halves = found.map(({ candidates }) => new Set(candidates.map(({ nonce }) => (nonce >> 47n) & 1n)))
    expect(halves).toEqual([new Set([0n]), new Set([1n])])
  })

  it('the GPU engine tunes once, keeps the values in a file, and ignores a broken file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'newcut-')), 'folder', 'tuning.json')
    const first = create(driver, { tuningFile: file })
    await startEngine(first)
    const [{ tuning }] = first.details()
    await first.stop()
    expect(readTuningFile(file)).toEqual({ entries: new Map([[expect.any(String), tuning]]), problem: null })
    const second = create(driver, { tuningFile: file, workgroup: 32 })
    await startEngine(second)
    expect(second.details()[0].tuning).toEqual({ ...tuning, workgroup: 32 })
    await second.stop()
    for (const garbage of [
      '{',
      '[1]',
      '"x"',
      readFileSync(file, 'utf8').replace(/"workgroup": \d+/, '"workgroup": -1'),
    ]) {
      writeFileSync(file, garbage)
      expect(readTuning(file, 'any')).toBeNull()
    }
  })
})

describe.each(drivers)('adapters of $name', ({ name, env }) => {
  const properties: Record<string, object> = {
    SwiftShader: { software: true, name: expect.stringMatching(/SwiftShader/) },
    lavapipe: { software: true, name: expect.stringMatching(/llvmpipe/), driver: expect.stringMatching(/Mesa/) },
  }

  it('adapters are listed with their properties, and can be measured', async () => {
    const { adapters, problem } = await listAdapters({ env })
    expect(problem).toBeNull()
    expect(adapters[0]).toMatchObject({ backend: 'vulkan', ...properties[name] })
    const options = { env, tuningFile: null, durationMs: 2000 }
    expect(await measureAdapter(adapters[0], freshWork(UNREACHABLE), options)).toBeGreaterThan(10_000)
  })

  it('adapters are listed even if the listing child is killed once', async () => {
    const listed = listAdapters({ env })
    const [child] = gpuChildrenOf(process.pid)
    process.kill(child, 'SIGKILL')
    const { adapters, problem } = await listed
    expect(problem).toBeNull()
    expect(adapters[0]).toMatchObject({ backend: 'vulkan', ...properties[name] })
  })

  it('adapters are an empty list when the listing is cancelled', async () => {
    const stop = new AbortController()
    const listed = listAdapters({ env, signal: stop.signal })
    stop.abort()
    expect((await listed).adapters).toEqual([])
    expect((await listAdapters({ env, signal: stop.signal })).adapters).toEqual([])
  })

  it('adapters are an empty list with an installation hint without a driver', async () => {
    const nowhere = { VK_ICD_FILENAMES: '/nonexistent.json', VK_DRIVER_FILES: '/nonexistent.json' }
    const { adapters, problem } = await listAdapters({ env: { ...env, ...nowhere } })
    expect(adapters).toEqual([])
    expect(problem).toMatch(/install/)
  })
})

it('loadDawn says that the package webgpu is missing', async () => {
  await expect(loadDawn('webgpu-is-not-here')).rejects.toThrow('the package webgpu-is-not-here is not installed')
})

describe('choice of adapters', () => {
  const adapter = (name: string, software = false): AdapterInfo => ({
    name,
    software,
    backend: 'vulkan',
    vendor: '',
    architecture: '',
    device: '',
    driver: '',
    limits: { invocationsPerWorkgroup: 256, workgroupsPerDimension: 65_535, storageBufferBytes: 1 },
  })
  const [card, other, soft] = [adapter('Card 1'), adapter('Other Card'), adapter('llvmpipe', true)]
  const all = [card, other, soft]

  it.each([
    ['all', false, [card, other]],
    ['all', true, all],
    ['none', true, []],
    ['1', false, [other]],
    ['1,0', false, [other, card]],
    ['card', false, [card, other]],
    ['llvm', true, [soft]],
  ] as const)('the choice of adapters %s selects the right ones', (selection, allowSoftware, wanted) => {
    expect(chooseAdapters(selection, all, allowSoftware)).toEqual(wanted)
  })

  it.each(['3', 'radeon', '', '2', '-1'])('the choice of adapters refuses %j', (selection) => {
    expect(() => chooseAdapters(selection, all, false)).toThrow(/`gpu: /)
  })

  it('the tuned values of adapters have a file on every platform', () => {
    expect(tuningFileOf({ XDG_CACHE_HOME: '/c' }, 'linux')).toBe('/c/newcut/gpu-tuning.json')
    expect(tuningFileOf({}, 'linux')).toMatch(/\.cache\/newcut\/gpu-tuning\.json$/)
    expect(tuningFileOf({ LOCALAPPDATA: '/l' }, 'win32')).toMatch(/^\/l/)
  })
})
