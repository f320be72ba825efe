/** After a failure of a GPU, newcut replaces its child process, counts nothing false, and continues to mine. */
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { withNonce } from '../../src/ground/chain/header.ts'
import { solves } from '../../src/ground/chain/pow.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import type { Candidate } from '../../src/mining/engine/engine.ts'
import { GpuEngine } from '../../src/mining/engine/gpu/gpu.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import { describeWith } from '../needs.ts'
import { engineWork, freshWork, UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'
import { driverLack, type TestDriver, testDrivers } from './driver.ts'

const drivers = await testDrivers()
const thorough = drivers.filter(({ isThorough }) => isThorough)
const FAULTY = new URL('./faulty-child.mjs', import.meta.url)

interface Run {
  readonly engine: GpuEngine
  readonly warnings: string[]
  readonly candidates: Candidate[]
  /** Bytes of the given work. */
  readonly bytes: Uint8Array
}

/** A busy machine may delay the driver. Therefore silence ends a device only in tests of silence. */
const [SILENCE_MS, LONG_MS] = [1500, 300_000]

let run: Run | null = null

afterEach(async () => {
  await run?.engine.stop()
  run = null
})

/** Starts an engine with `devices` devices and gives it work. With a fault, the tenth batch goes wrong, once. */
async function mining(
  { env, speed }: TestDriver,
  fault: string | null,
  { devices = 1, difficulty = 20_000n * BigInt(speed), settledMs = 10_000, silenceMs = LONG_MS } = {},
): Promise<Run> {
  const mark = join(mkdtempSync(join(tmpdir(), 'newcut-')), 'mark')
  const engine = new GpuEngine({
    adapters: Array.from({ length: devices }, () => null),
    ranges: nonceRanges(devices, Math.random),
    allowSoftware: true,
    tuningFile: null,
    env: { ...env, ...(fault !== null && { TEST_FAULT: fault, TEST_MARK: mark }) },
    program: fault === null ? undefined : FAULTY,
    silenceMs,
    restartMs: 20,
    settledMs,
  })
  const bytes = freshWork(difficulty)
  run = { engine, warnings: [], candidates: [], bytes }
  const { warnings, candidates } = run
  await engine.start(286, {
    onCandidate: (candidate) => void candidates.push(candidate),
    onWarning: (message) => void warnings.push(message),
  })
  await engine.setWork(engineWork(1, bytes, workFromBytes(bytes).fields.target))
  return run
}

const hashesOf = (engine: GpuEngine, device = 0) => engine.devices()[device].hashes
const areSolutions = ({ candidates, bytes }: Run) => candidates.every(({ nonce }) => solves(withNonce(bytes, nonce)))

/** Waits until the device has failed once, has restarted and finds solutions again. */
async function recovery({ engine, warnings, candidates }: Run): Promise<void> {
  await until(() => warnings.length > 0)
  await until(() => engine.devices()[0].state === undefined)
  const [hashes, found] = [hashesOf(engine), candidates.length]
  await until(() => hashesOf(engine) > hashes && candidates.length > found)
  expect(engine.devices()[0].faults).toBe(1)
  expect(warnings).toHaveLength(1)
}

/** Faults that involve the driver. */
const FAULTS_OF_DRIVERS: [string, RegExp][] = [
  ['validation', /started again.*(dispatch|workgroup|Dispatch)/],
  ['destroyed', /started again.*(device lost|destroy)/i],
  ['skipped', /batch \d+ came back with tag \d+/],
  ['idle', /it did not search, or hashes wrongly: \d right of about \d+ candidates/],
]
const FAULTS_OF_PROCESSES: [string, RegExp][] = [
  ['silent', /no batch for 1.5 s/],
  ['hang', /no batch for 1.5 s/],
  ['crash', /it ended with SIGABRT/],
  ['garbage', /it sent an invalid report: "Segmentation fault"/],
  ['inflated', /it sent an invalid report/],
  ['endless', /it sent an invalid report: a line of more than 65536 characters/],
]

/** Hashes that the fault `inflated` claims. */
const INFLATED_HASHES = 1e15

describeWith(driverLack(), 'a GPU that fails', () => {
  for (const driver of drivers) {
    const faults = [...FAULTS_OF_DRIVERS, ...(driver.isThorough ? FAULTS_OF_PROCESSES : [])]
    it.each(faults)(
      `a GPU on ${driver.name} with the fault "%s" is restarted, and nothing false is counted`,
      async (fault, reason) => {
        const isSilent = reason.source.startsWith('no batch')
        const own = await mining(driver, fault, isSilent ? { silenceMs: SILENCE_MS } : {})
        await recovery(own)
        expect(own.warnings[0]).toMatch(reason)
        expect(areSolutions(own)).toBe(true)
        expect(hashesOf(own.engine)).toBeLessThan(INFLATED_HASHES)
        const nonces = own.candidates.map(({ nonce }) => nonce)
        expect(new Set(nonces).size).toBe(nonces.length)
      },
    )
  }
})

describe.each(thorough)('a GPU that fails, on $name', (driver) => {
  it('a GPU that is killed in the middle of a batch counts only searched nonces', async () => {
    const own = await mining(driver, null)
    await until(() => own.candidates.length > 0)
    process.kill(own.engine.details()[0].pid ?? 0, 'SIGKILL')
    await until(() => own.warnings.length > 0)
    expect(own.engine.devices()[0]).toMatchObject({ state: 'restarting', faults: 1 })
    const hashes = hashesOf(own.engine)
    await until(() => {
      const [device] = own.engine.devices()
      if (device.state === 'restarting') expect(device.hashes).toBe(hashes)
      return device.state === undefined
    })
    await recovery(own)
    expect(own.warnings[0]).toMatch(/it ended with SIGKILL/)
    expect(areSolutions(own)).toBe(true)
  })

  it('a GPU that fails passes false claims on to the miner, which judges them', async () => {
    const own = await mining(driver, 'wrong', { difficulty: UNREACHABLE })
    await until(() => own.candidates.length > 0)
    expect(own.candidates.map(({ nonce }) => nonce)).toEqual([0x9abcdef0_12345678n])
    expect(areSolutions(own)).toBe(false)
    expect(own.warnings).toEqual([])
  })

  it('a GPU that fails delays neither the device beside it nor new work', async () => {
    const own = await mining(driver, null, { devices: 2, silenceMs: SILENCE_MS })
    const [{ pid }] = own.engine.details()
    process.kill(pid ?? 0, 'SIGSTOP')
    const before = hashesOf(own.engine, 1)
    await until(() => hashesOf(own.engine, 1) > before)
    const bytes = freshWork(UNREACHABLE)
    // The stopped device does not answer: newcut kills it, and the new work counts as taken without it.
    expect(await own.engine.setWork(engineWork(2, bytes, 0n))).toBe(true)
    await until(() => own.engine.devices()[0].state === undefined)
    expect(own.engine.devices()[1]).toMatchObject({ faults: 0 })
    expect(own.engine.details()[0].pid).not.toBe(pid)
  })

  it('a GPU that fails is parked after five failures in a row', async () => {
    const own = await mining(driver, null)
    for (let failure = 1; failure <= 5; failure++) {
      await until(() => own.engine.devices()[0].state === undefined)
      process.kill(own.engine.details()[0].pid ?? 0, 'SIGKILL')
      await until(() => own.warnings.length === failure)
    }
    expect(own.warnings.at(-1)).toMatch(/^gpu0 is parked after 5 failures in a row: it ended with SIGKILL/)
    const parked = { state: 'parked', reason: expect.stringContaining('SIGKILL'), faults: 5 }
    expect(own.engine.devices()[0]).toMatchObject(parked)
    expect(await own.engine.setWork(engineWork(2, freshWork(UNREACHABLE), 0n))).toBe(true)
    // The state survives the end of mining.
    await own.engine.stop()
    expect(own.engine.devices()[0]).toMatchObject(parked)
  })

  it('a GPU that fails is not parked when it searches for a while between failures', async () => {
    const own = await mining(driver, null, { settledMs: 1 })
    for (let failure = 1; failure <= 10; failure++) {
      const hashes = hashesOf(own.engine)
      await until(() => own.engine.devices()[0].state === undefined && hashesOf(own.engine) > hashes)
      process.kill(own.engine.details()[0].pid ?? 0, 'SIGKILL')
      await until(() => own.warnings.length === failure)
    }
    expect(own.warnings.filter((text) => text.includes('parked'))).toEqual([])
    expect(own.engine.devices()[0]).toMatchObject({ faults: 10 })
  })

  it('a GPU that fails leaves no process behind', async () => {
    const own = await mining(driver, null)
    const pid = own.engine.details()[0].pid ?? 0
    await own.engine.stop()
    expect(existsSync(`/proc/${pid}`)).toBe(false)
  })
})
