/** An engine of 10,000 devices that come and go, with the code that handles each device: uptake, rates and metrics. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { Metrics } from '../../src/faces/api/metrics.ts'
import type { DeviceStatus, Engine, EngineWork } from '../../src/mining/engine/engine.ts'
import { WorkAcknowledgement } from '../../src/mining/engine/work-acknowledgement.ts'
import { HashrateMeter } from '../../src/mining/mine/hashrate.ts'
import { Rates } from '../../src/mining/mine/rates.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { engineWork, freshWork, UNREACHABLE } from '../support/work.ts'
import { snapshotWith } from './snapshot.ts'

const DEVICES = 10_000
const SILENT = 50
const HASHES_A_SECOND = 1000

/** Devices take work at once, except for some that never do. Each second replaces one device in a hundred. */
class SyntheticEngine implements Engine {
  readonly name = 'rigs'
  readonly #uptake = new WorkAcknowledgement()
  readonly #devices = new Map<string, number>()
  #hashes = 0
  #names = 0

  async start() {
    while (this.#devices.size < DEVICES) this.#add()
  }

  setWork({ sequence }: EngineWork): Promise<boolean> {
    const taken = this.#uptake.await(sequence)
    let silent = SILENT
    for (const device of this.#devices.keys()) if (silent-- <= 0) this.#uptake.acknowledge(device, sequence)
    return taken
  }

  second(): void {
    let leaving = DEVICES / 100
    for (const [device, hashes] of [...this.#devices]) {
      this.#devices.set(device, hashes + HASHES_A_SECOND)
      this.#hashes += HASHES_A_SECOND
      if (leaving-- <= 0) continue
      this.#devices.delete(device)
      this.#uptake.deviceDown(device)
      this.#add()
    }
  }

  hashes = () => this.#hashes

  devices(): readonly DeviceStatus[] {
    return [...this.#devices].map(([device, hashes]) => ({ device, kernel: 'asic', hashes, faults: 0 }))
  }

  async stop() {
    this.#uptake.cancel()
  }

  #add(): void {
    const device = `rig${this.#names++}`
    this.#devices.set(device, 0)
    this.#uptake.deviceUp(device)
  }
}

function snapshotOf(engine: Engine, rates: Rates): Snapshot {
  const devices = engine.devices().map((device) => ({ ...device, engine: engine.name }))
  const own = devices.map((device) => ({ ...device, hashrates: rates.ratesOf(device) }))
  return snapshotWith({ hashes: engine.hashes(), hashrates: rates.total(true), devices: own, work: null })
}

it('the miner takes new work with 10,000 devices although 50 of them never answer', async () => {
  const engine = new SyntheticEngine()
  await engine.start()
  for (const sequence of [1, 2, 3]) {
    expect(await engine.setWork(engineWork(sequence, freshWork(UNREACHABLE), 0n))).toBe(true)
    engine.second()
  }
})

it('the miner shows 10,000 devices that come and go in bounded memory', async () => {
  const engine = new SyntheticEngine()
  await engine.start()
  const rates = new Rates()
  const metrics = new Metrics(() => snapshotOf(engine, rates), '0.0.0')
  const sample = (second: number) => {
    engine.second()
    const devices = engine.devices().map((device) => ({ ...device, engine: engine.name }))
    rates.sample(1000 * second, devices, engine.hashes())
  }
  for (let second = 0; second < 12; second++) sample(second)
  const first = await metrics.scrape()
  for (let second = 12; second < 30; second++) sample(second)
  const second = await metrics.scrape()
  // Thousands of devices have gone meanwhile: with their series, the text would have grown by a quarter.
  const lines = (text: string) => text.split('\n').length
  expect(lines(second)).toBeLessThan(1.05 * lines(first))
  expect(second.match(/newcut_device_up\{/g)).toHaveLength(DEVICES)
  expect(second).toContain(`newcut_miner_hashes_total ${30 * DEVICES * HASHES_A_SECOND}`)
  const { hashrates, devices } = snapshotOf(engine, rates)
  expect(hashrates['10s']).toBeCloseTo(DEVICES * HASHES_A_SECOND)
  expect(devices.filter((device) => device.hashrates['10s'] !== null).length).toBeGreaterThan(DEVICES / 2)
  // The miner drops the rates of a departed device.
  expect(rates.ratesOf({ engine: 'rigs', device: 'rig0' })).toEqual({ '10s': null, '60s': null, '15m': null })
})

it('the rates keep less than 4 KiB a device, however long it is sampled', () => {
  const METERS = 1000
  const before = usedBytes()
  const meters = Array.from({ length: METERS }, () => new HashrateMeter())
  for (let second = 0; second < 1200; second++) for (const meter of meters) meter.sample(1000 * second, second)
  expect((usedBytes() - before) / METERS).toBeLessThan(4096)
  expect(meters[0].rates()).toEqual({ '10s': 1, '60s': 1, '15m': 1 })
})

function usedBytes(): number {
  setFlagsFromString('--expose_gc')
  runInNewContext('gc')()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
