/** How fast the devices of a miner are. */
import type { DeviceStatus } from '../engine/engine.ts'
import { HashrateMeter, type Hashrates, NO_RATES, NO_WINDOWS, type RateWindows } from './hashrate.ts'

/** What does not search has no rate now, whatever it did within the last 10 s. */
function presentRates<T extends Hashrates>(rates: T, searches: boolean): T {
  return searches ? rates : { ...rates, '10s': 0 }
}

export type EngineDevice = DeviceStatus & { readonly engine: string }

/** Rates of each current device, and of all together. */
export class Rates {
  readonly #total = new HashrateMeter()
  /** By engine and device. */
  #devices = new Map<string, HashrateMeter>()
  /** By engine and hardware, where several devices share it. */
  #shared = new Map<string, HashrateMeter>()

  /**
   * `hashes`: of all devices since the start. `gone`: devices that are no longer there, for the hardware that others share
   * with them; their own meters are dropped.
   */
  sample(atMs: number, devices: readonly EngineDevice[], hashes: number, gone: readonly EngineDevice[] = []): void {
    const present = new Map<string, HashrateMeter>()
    for (const { engine, device, hashes: own } of devices) {
      const key = `${engine}/${device}`
      const meter = this.#devices.get(key) ?? new HashrateMeter()
      meter.sample(atMs, own)
      present.set(key, meter)
    }
    this.#devices = present
    this.#sampleShared(atMs, [...devices, ...gone])
    this.#total.sample(atMs, hashes)
  }

  /** `searches`: whether any device does. */
  total(searches: boolean): Hashrates {
    return presentRates(this.#total.rates(), searches)
  }

  /** The highest rate of all devices together over 10 s so far. */
  get highest(): number | null {
    return this.#total.highest
  }

  /** `searches`: false where the miner is paused. */
  of({ engine, device, state }: Pick<EngineDevice, 'engine' | 'device' | 'state'>, searches = true): Hashrates {
    const rates = this.#devices.get(`${engine}/${device}`)?.rates() ?? NO_RATES
    return presentRates(rates, searches && state === undefined)
  }

  /** Of a part of the machine: of the devices that share it together, or of the device that has the name. */
  ofHardware(engine: string, name: string, searches: boolean): RateWindows {
    const key = `${engine}/${name}`
    const meter = this.#shared.get(key) ?? this.#devices.get(key)
    const windows = meter === undefined ? NO_WINDOWS : { ...meter.rates(), highest: meter.highest }
    return presentRates(windows, searches)
  }

  #sampleShared(atMs: number, devices: readonly EngineDevice[]): void {
    const sums = new Map<string, number>()
    for (const { engine, hardware, hashes } of devices) {
      if (hardware === undefined) continue
      const key = `${engine}/${hardware}`
      sums.set(key, (sums.get(key) ?? 0) + hashes)
    }
    const present = new Map<string, HashrateMeter>()
    for (const [key, hashes] of sums) {
      const meter = this.#shared.get(key) ?? new HashrateMeter()
      meter.sample(atMs, hashes)
      present.set(key, meter)
    }
    this.#shared = present
  }
}
