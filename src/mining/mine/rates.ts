/** Hashrates of the devices of a miner. */
import type { DeviceStatus } from '../engine/engine.ts'
import { HashrateMeter, type Hashrates, NO_RATES, NO_WINDOWS, type RateWindows } from './hashrate.ts'

/** The 10-second rate of a device that does not search is 0, whatever it did within the window. */
function currentRates<T extends Hashrates>(rates: T, searches: boolean): T {
  return searches ? rates : { ...rates, '10s': 0 }
}

export type EngineDevice = DeviceStatus & { readonly engine: string }

/** Hashrates of each current device, and their total. */
export class Rates {
  readonly #total = new HashrateMeter()
  /** By engine and device. */
  #devices = new Map<string, HashrateMeter>()
  /** By engine and hardware that several devices share. */
  #shared = new Map<string, HashrateMeter>()

  /**
   * @param hashes hashes of all devices since the start
   * @param gone devices that are gone; they count only for hardware that they shared with others
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

  /** @param searches whether any device searches */
  total(searches: boolean): Hashrates {
    return currentRates(this.#total.rates(), searches)
  }

  /** The highest 10-second rate of all devices together. */
  get highest(): number | null {
    return this.#total.highest
  }

  /** @param searches false while the miner is paused */
  ratesOf({ engine, device, state }: Pick<EngineDevice, 'engine' | 'device' | 'state'>, searches = true): Hashrates {
    const rates = this.#devices.get(`${engine}/${device}`)?.rates() ?? NO_RATES
    return currentRates(rates, searches && state === undefined)
  }

  /** Hashrates of a part of the machine: of all devices that share it, or of the device with this name. */
  ofHardware(engine: string, name: string, searches: boolean): RateWindows {
    const key = `${engine}/${name}`
    const meter = this.#shared.get(key) ?? this.#devices.get(key)
    const windows = meter === undefined ? NO_WINDOWS : { ...meter.rates(), highest: meter.highest }
    return currentRates(windows, searches)
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
