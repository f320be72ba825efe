/**
 * The snapshot of statistics behind console, Prometheus, dashboard and JSON API. It is a wire format: /api/summary
 * serves it as it is, so renaming a field breaks its readers.
 */

import { forkStateOf, VOTE } from '#ground/chain/fork.ts'
import type { VerdictCounts } from '#ground/chain/solution.ts'
import type { DeviceStatus } from '../engine/engine.ts'
import type { FleetStatus } from '../engine/leader.ts'
import type { StratumStatus } from '../engine/rigs.ts'
import type { ChainStatus, ForkVote, Source, UpstreamStatus } from '../source/source.ts'
import type { EnergyMeter, EnergySnapshot } from './energy.ts'
import { errorsOf, type HardwareSnapshot, hardwareOf } from './hardware.ts'
import type { Hashrates } from './hashrate.ts'
import type { IssuedWork } from './issued.ts'
import type { Pause } from './pauses.ts'
import type { MoneyParts, SearchState } from './profit.ts'
import type { EngineDevice, Rates } from './rates.ts'
import type { ResultsSnapshot } from './results.ts'
import type { Tally } from './tally.ts'

export interface DeviceSnapshot extends DeviceStatus {
  readonly engine: string
  readonly hashrates: Hashrates
}

export interface Snapshot extends MoneyParts {
  readonly source: string
  readonly connected: boolean
  /** Nodes, pools or the server of a fleet by priority; empty if there is only one node. */
  readonly nodes: readonly UpstreamStatus[]
  /** Chains of the network, ascending; absent if the source does not know them. */
  readonly chains?: readonly ChainStatus[]
  /** Why nothing searches, as a sentence, or null while a device searches or before there is any. */
  readonly idleReason: string | null
  /** Why there is no work on purpose, as the continuation of "waits"; absent while there is, or should be. */
  readonly waitReason?: string
  /** Whether mining is paused. */
  readonly paused: boolean
  /** Pause causes, the foremost first; empty while mining. */
  readonly pauses: readonly Pause[]
  readonly uptimeMs: number
  /** Hashes of all devices since the start, including those that are gone. */
  readonly hashes: number
  readonly hashrates: Hashrates
  /** The highest 10-second rate so far, or null until 10 s have passed. */
  readonly highestHashrate: number | null
  /** Hashes per second since the start: short runs have no full window. */
  readonly meanHashrate: number
  readonly devices: readonly DeviceSnapshot[]
  /** Hardware as users count it: the CPU with all its threads first, then each GPU. */
  readonly hardware: readonly HardwareSnapshot[]
  /** Power and energy of the miner; those of its rigs for the leader of a fleet. */
  readonly energy: EnergySnapshot
  readonly solutions: VerdictCounts
  /** Accepted shares that also meet the target of their block; 0 without a pool. */
  readonly poolBlocks: number
  readonly hardwareErrors: number
  readonly preemptions: number
  /** Connections and shares of rigs; absent without a stratum server. */
  readonly rigs?: StratumStatus
  /** Fleet status of a leader; absent elsewhere. */
  readonly fleet?: FleetStatus
  /** Issuer of the newest work, such as a node's address, or null if there was none. */
  readonly issuer: string | null
  readonly results: ResultsSnapshot
  readonly work: null | {
    readonly chain: number
    readonly height: number
    readonly difficulty: number
    readonly ageMs: number
    /** Fork votes that the work carries, its own included: those of its chain's epoch so far. */
    readonly forkVotes: number
  }
  /** Fork vote of the newest work with a known vote, or null if there is none. */
  readonly forkVote: ForkVote | null
}

/** At most this many devices are listed with their reasons; the rest is a number. */
const MAX_REASONS = 3

/** @returns why nothing searches, as a sentence, or null while a device searches or before there is any */
export function idleReasonOf(devices: readonly EngineDevice[]): string | null {
  if (devices.length === 0 || devices.some(({ state }) => state === undefined)) return null
  const sentences = devices.slice(0, MAX_REASONS).map(({ engine, device, state, reason }) => {
    return `${engine} ${device} is ${state}${reason === undefined ? '' : `: ${reason}`}`
  })
  const others = devices.length - sentences.length
  return `${sentences.join('; ')}${others > 0 ? `; and ${others} more` : ''}`
}

/** Parts of a snapshot that servers for rigs and fleets add, and the money of the miner. */
export interface ServerParts extends Pick<Snapshot, 'rigs' | 'fleet'> {
  /** Default: none, so that `profit` and `earnings` are absent. */
  readonly money?: { snapshot(searched: SearchState): MoneyParts }
}

/** The parts of a miner that a snapshot is made of. */
export interface SnapshotParts {
  readonly source: Pick<Source, 'description' | 'connected' | 'upstreams' | 'chains' | 'waitReason'>
  readonly engines: { devices(): EngineDevice[]; goneDevices(): EngineDevice[]; hashes(): number }
  readonly rates: Rates
  readonly tally: Tally
  readonly solutions: { readonly counts: VerdictCounts; readonly poolBlocks: number }
  readonly nowMs: number
  /** 0 before the start. */
  readonly startedAtMs: number
  /** Current work, or null. */
  readonly current: IssuedWork | null
  readonly pauses: readonly Pause[]
  readonly energy: Pick<EnergyMeter, 'groupsOf' | 'snapshot'>
  readonly serverParts: ServerParts
  readonly counts: Pick<Snapshot, 'hardwareErrors' | 'preemptions'>
  readonly issuer: string | null
  readonly results: ResultsSnapshot
  readonly forkVote: ForkVote | null
}

/** Builds the snapshot. Changes nothing. */
export function minerSnapshotOf(parts: SnapshotParts): Snapshot {
  const { source, engines, rates, tally, solutions: lives, nowMs, startedAtMs, current, pauses, energy } = parts
  const devices = engines.devices()
  const gone = engines.goneDevices()
  const hashes = engines.hashes()
  const chains = source.chains()
  const uptimeMs = startedAtMs === 0 ? 0 : nowMs - startedAtMs
  const { money, ...beside } = parts.serverParts
  const idleReason = idleReasonOf(devices)
  const paused = pauses.length > 0
  const hashrates = rates.total(idleReason === null && !paused)
  const meanHashrate = uptimeMs > 0 ? (hashes * 1000) / uptimeMs : 0
  const groups = energy.groupsOf(devices)
  const power = energy.snapshot(groups, paused, beside.fleet?.energy)
  return {
    source: source.description,
    connected: source.connected,
    nodes: source.upstreams(),
    ...(chains && { chains }),
    uptimeMs,
    hashes,
    hashrates,
    highestHashrate: rates.highest,
    meanHashrate,
    idleReason,
    ...(source.waitReason !== null && { waitReason: source.waitReason }),
    paused,
    pauses,
    devices: devices.map((device) => ({ ...device, hashrates: rates.ratesOf(device, !paused) })),
    hardware: hardwareOf({ groups, gone, rates, paused, tally }),
    energy: power,
    solutions: lives.counts,
    poolBlocks: lives.poolBlocks,
    ...parts.counts,
    hardwareErrors: parts.counts.hardwareErrors + errorsOf([...devices, ...gone]),
    ...beside,
    issuer: parts.issuer,
    results: parts.results,
    work: current && workOf(current, nowMs),
    forkVote: parts.forkVote,
    ...money?.snapshot({
      work: current?.work ?? null,
      chains: chains?.length ?? 0,
      hashrate: steadyRate(hashrates, meanHashrate),
      power,
    }),
  }
}

/** The rate over a minute. It is 0 while nothing searches, and the mean of a run that is younger than any window. */
function steadyRate({ '10s': short, '60s': minute }: Hashrates, mean: number): number {
  if (short === 0) return 0
  return minute ?? short ?? mean
}

function workOf({ work, search: pursuit }: IssuedWork, nowMs: number): NonNullable<Snapshot['work']> {
  const { chainId: chain, height, featureFlags } = work.fields
  return {
    chain,
    height: Number(height),
    difficulty: pursuit.difficulty,
    ageMs: nowMs - pursuit.receivedAtMs,
    forkVotes: forkStateOf(featureFlags).votes / VOTE,
  }
}
