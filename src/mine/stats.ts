/** The snapshot of statistics that console, Prometheus and JSON API all show. */
import type { DeviceStatus } from '../engine/engine.ts'
import type { ChainStatus, NodeStatus } from '../source/source.ts'
import { HashrateMeter, type Hashrates, NO_RATES } from './hashrate.ts'
import type { Verdict } from './life.ts'

export interface DeviceSnapshot extends DeviceStatus {
  readonly engine: string
  readonly hashrates: Hashrates
}

export interface Snapshot {
  readonly source: string
  readonly connected: boolean
  /** In order of priority; empty where there is one node only. */
  readonly nodes: readonly NodeStatus[]
  /** The chains of the network, ascending; absent where the source knows nothing of them. */
  readonly chains?: readonly ChainStatus[]
  /** Why nothing searches, as a sentence. null while a device searches, or before there is any. */
  readonly idleReason: string | null
  readonly uptimeMs: number
  /** Hashes of all devices since the start, including those that are gone. */
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

/** What does not search has no rate now, whatever it did within the last 10 s. */
function presentRates(rates: Hashrates, searches: boolean): Hashrates {
  return searches ? rates : { ...rates, '10s': 0 }
}

type EngineDevice = DeviceStatus & { readonly engine: string }

/** Devices whose reasons are listed; the others are only counted. */
const MAX_REASONS = 3

/** Why nothing searches, as a sentence. null while a device searches, or before there is any. */
export function idleReasonOf(devices: readonly EngineDevice[]): string | null {
  if (devices.length === 0 || devices.some(({ state }) => state === undefined)) return null
  const sentences = devices.slice(0, MAX_REASONS).map(({ engine, device, state, reason }) => {
    return `${engine} ${device} is ${state}${reason === undefined ? '' : `: ${reason}`}`
  })
  const others = devices.length - sentences.length
  return `${sentences.join('; ')}${others > 0 ? `; and ${others} more` : ''}`
}

/** Rates of each current device, and of all together. */
export class Rates {
  readonly #total = new HashrateMeter()
  /** By engine and device. */
  #devices = new Map<string, HashrateMeter>()

  /** `hashes`: of all devices since the start. Meters of devices that are gone are dropped. */
  sample(atMs: number, devices: readonly EngineDevice[], hashes: number): void {
    const present = new Map<string, HashrateMeter>()
    for (const { engine, device, hashes: own } of devices) {
      const key = `${engine}/${device}`
      const meter = this.#devices.get(key) ?? new HashrateMeter()
      meter.sample(atMs, own)
      present.set(key, meter)
    }
    this.#devices = present
    this.#total.sample(atMs, hashes)
  }

  /** `searches`: whether any device does. */
  total(searches: boolean): Hashrates {
    return presentRates(this.#total.rates(), searches)
  }

  of({ engine, device, state }: Pick<EngineDevice, 'engine' | 'device' | 'state'>): Hashrates {
    const rates = this.#devices.get(`${engine}/${device}`)?.rates() ?? NO_RATES
    return presentRates(rates, state === undefined)
  }
}
