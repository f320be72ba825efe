/** The snapshot of statistics that console, Prometheus and JSON API all show. */
import type { DeviceStatus, FleetStatus, RigsStatus } from '../engine/engine.ts'
import type { ChainStatus, ForkVote, NodeStatus } from '../source/source.ts'
import type { HardwareSnapshot } from './hardware.ts'
import { HashrateMeter, type Hashrates, NO_RATES, NO_WINDOWS, type RateWindows } from './hashrate.ts'
import type { Verdict } from './life.ts'
import type { Pause } from './pauses.ts'
import type { ResultsSnapshot } from './results.ts'

export { shareVerdicts } from '../engine/engine.ts'

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
  /** Whether it was told to search nothing for now. */
  readonly paused: boolean
  /** Why, the foremost first; empty while it is not paused. */
  readonly pauses: readonly Pause[]
  readonly uptimeMs: number
  /** Hashes of all devices since the start, including those that are gone. */
  readonly hashes: number
  readonly hashrates: Hashrates
  /** The highest rate over 10 s so far; null until 10 s have passed. */
  readonly highestHashrate: number | null
  /** Hashes per second since the start: short runs have no full window. */
  readonly meanHashrate: number
  readonly devices: readonly DeviceSnapshot[]
  /** The devices as people count them: the processor with all its threads first, then each GPU. */
  readonly hardware: readonly HardwareSnapshot[]
  readonly solutions: Readonly<Record<Verdict, number>>
  /** Accepted shares whose hash also meets the target of their block; 0 without a pool. */
  readonly poolBlocks: number
  readonly hardwareErrors: number
  readonly preemptions: number
  /** Connections and shares of rigs; absent where none are let in. */
  readonly rigs?: RigsStatus
  /** Of the leader of a fleet; absent where there is none. */
  readonly fleet?: FleetStatus
  /** Who gave the newest work: the address of a node; null: there has been none. */
  readonly issuer: string | null
  readonly results: ResultsSnapshot
  readonly work: null | {
    readonly chain: number
    readonly height: number
    readonly difficulty: number
    readonly ageMs: number
    /** Votes for the next fork that it carries, its own included: those of its chain's epoch so far. */
    readonly forkVotes: number
  }
  /** What the newest work votes of which that is known; null: of none so far. */
  readonly forkVote: ForkVote | null
}

/** What does not search has no rate now, whatever it did within the last 10 s. */
function presentRates<T extends Hashrates>(rates: T, searches: boolean): T {
  return searches ? rates : { ...rates, '10s': 0 }
}

export type EngineDevice = DeviceStatus & { readonly engine: string }

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
