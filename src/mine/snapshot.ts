/**
 * The snapshot of statistics that console, Prometheus, dashboard and JSON API all show. It is a wire format: /api/summary
 * serves it as it is, so that a field renamed here is renamed for all who read that.
 */

import { forkStateOf, VOTE } from '../core/fork.ts'
import type { VerdictCounts } from '../core/solution.ts'
import type { DeviceStatus } from '../engine/engine.ts'
import type { FleetStatus } from '../engine/leader.ts'
import type { StratumStatus } from '../engine/rigs.ts'
import type { ChainStatus, ForkVote, Source, UpstreamStatus } from '../source/source.ts'
import { errorsOf, type HardwareSnapshot, hardwareOf, type Reading } from './hardware.ts'
import type { Hashrates } from './hashrate.ts'
import type { Issued } from './issued.ts'
import type { Pause } from './pauses.ts'
import type { EngineDevice, Rates } from './rates.ts'
import type { ResultsSnapshot } from './results.ts'
import type { Tally } from './tally.ts'

export interface DeviceSnapshot extends DeviceStatus {
  readonly engine: string
  readonly hashrates: Hashrates
}

export interface Snapshot {
  readonly source: string
  readonly connected: boolean
  /** Nodes, pools or the server of a fleet, in order of priority; empty where there is one node only. */
  readonly nodes: readonly UpstreamStatus[]
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
  readonly solutions: VerdictCounts
  /** Accepted shares whose hash also meets the target of their block; 0 without a pool. */
  readonly poolBlocks: number
  readonly hardwareErrors: number
  readonly preemptions: number
  /** Connections and shares of rigs; absent where none are let in. */
  readonly rigs?: StratumStatus
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

/** The parts of a miner that a snapshot is made of. */
export interface SnapshotParts {
  readonly source: Pick<Source, 'description' | 'connected' | 'upstreams' | 'chains'>
  readonly engines: { devices(): EngineDevice[]; gone(): EngineDevice[]; hashes(): number }
  readonly rates: Rates
  readonly tally: Tally
  readonly lives: { readonly counts: VerdictCounts; readonly poolBlocks: number }
  readonly nowMs: number
  /** 0: it has not started. */
  readonly startedAtMs: number
  /** What is searched; null: nothing. */
  readonly current: Issued | null
  readonly pauses: readonly Pause[]
  readonly readings: readonly Reading[]
  readonly beside: Pick<Snapshot, 'rigs' | 'fleet'>
  readonly counts: Pick<Snapshot, 'hardwareErrors' | 'preemptions'>
  readonly issuer: string | null
  readonly results: ResultsSnapshot
  readonly forkVote: ForkVote | null
}

/** The snapshot of these parts. Changes nothing. */
export function snapshotOf(parts: SnapshotParts): Snapshot {
  const { source, engines, rates, tally, lives, nowMs, startedAtMs, current, pauses, readings } = parts
  const [devices, gone, hashes, chains] = [engines.devices(), engines.gone(), engines.hashes(), source.chains()]
  const uptimeMs = startedAtMs === 0 ? 0 : nowMs - startedAtMs
  const idleReason = idleReasonOf(devices)
  const paused = pauses.length > 0
  return {
    source: source.description,
    connected: source.connected,
    nodes: source.upstreams(),
    ...(chains && { chains }),
    uptimeMs,
    hashes,
    hashrates: rates.total(idleReason === null && !paused),
    highestHashrate: rates.highest,
    meanHashrate: uptimeMs > 0 ? (hashes * 1000) / uptimeMs : 0,
    idleReason,
    paused,
    pauses,
    devices: devices.map((device) => ({ ...device, hashrates: rates.of(device, !paused) })),
    hardware: hardwareOf({ devices, gone, rates, paused, tally, readings }),
    solutions: lives.counts,
    poolBlocks: lives.poolBlocks,
    ...parts.counts,
    hardwareErrors: parts.counts.hardwareErrors + errorsOf([...devices, ...gone]),
    ...parts.beside,
    issuer: parts.issuer,
    results: parts.results,
    work: current && workOf(current, nowMs),
    forkVote: parts.forkVote,
  }
}

function workOf({ work, pursuit }: Issued, nowMs: number): NonNullable<Snapshot['work']> {
  const { chainId: chain, height, featureFlags } = work.fields
  return {
    chain,
    height: Number(height),
    difficulty: pursuit.difficulty,
    ageMs: nowMs - pursuit.receivedAtMs,
    forkVotes: forkStateOf(featureFlags).votes / VOTE,
  }
}
