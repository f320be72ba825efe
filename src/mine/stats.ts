/** The one snapshot of statistics that console, Prometheus and JSON API show. */
import type { DeviceStatus } from '../engine/engine.ts'
import { HashrateMeter, type Hashrates } from './hashrate.ts'
import type { Verdict } from './life.ts'

export interface DeviceSnapshot extends DeviceStatus {
  readonly engine: string
  readonly hashrates: Hashrates
}

export interface Snapshot {
  readonly source: string
  readonly connected: boolean
  readonly uptimeMs: number
  readonly hashes: number
  readonly hashrates: Hashrates
  /** Hashes per second since the start: short runs have no full window. */
  readonly meanHashrate: number
  readonly devices: readonly DeviceSnapshot[]
  readonly solutions: Readonly<Record<Verdict, number>>
  readonly hardwareErrors: number
  readonly preemptions: number
  readonly work: null | {
    readonly chain: number
    readonly height: number
    readonly difficulty: number
    readonly ageMs: number
  }
}

/** Rates of all devices and their sum. */
export class Rates {
  readonly #total = new HashrateMeter()
  readonly #devices = new Map<string, HashrateMeter>()

  sample(atMs: number, devices: readonly (DeviceStatus & { readonly engine: string })[]): void {
    let total = 0
    for (const { engine, device, hashes } of devices) {
      this.#meter(engine, device).sample(atMs, hashes)
      total += hashes
    }
    this.#total.sample(atMs, total)
  }

  total(): Hashrates {
    return this.#total.rates()
  }

  of(engine: string, device: string): Hashrates {
    return this.#meter(engine, device).rates()
  }

  #meter(engine: string, device: string): HashrateMeter {
    const key = `${engine}/${device}`
    const meter = this.#devices.get(key) ?? new HashrateMeter()
    this.#devices.set(key, meter)
    return meter
  }
}
