/**
 * What the dashboard shows, as it goes over the event stream (`GET /api/events`), in events of JSON:
 *
 *     event: state    everything (DashboardState): at first, and after a reader was too slow
 *     event: change   what is new since the last one (DashboardChange), once a second, sooner after news
 */

import type { StepName } from '../../core/solution.ts'
import type { HardwareSnapshot } from '../../mine/hardware.ts'
import type { Snapshot } from '../../mine/snapshot.ts'

export type { HardwareSnapshot, Snapshot }

/** What does not change while the miner runs. */
export interface About {
  readonly version: string
  readonly network: string
  /** Who is paid. */
  readonly account: string
}

/** A solution of this miner, and how far it has come. */
export interface ShownBlock {
  /** Block hash, base64url. */
  readonly hash: string
  readonly chain: number
  readonly height: number
  readonly device: string
  /** Hashes spent on it, in units of what a solution takes on average. */
  readonly effort: number
  /** Unix time in milliseconds. */
  readonly foundAtMs: number
  readonly state: StepName
  /** Of a block that is confirmed: 1 is the head of its chain. */
  readonly depth: number | null
  /** Coins, a decimal number; null: not known. */
  readonly reward: string | null
  /** Why it was rejected or is lost. */
  readonly message: string | null
}

/** Rates over 10 s, in hashes a second; null: not known at that time. */
export interface RateLine {
  /** A device such as `gpu0`, or an engine such as `cpu` for all devices of one with many. */
  readonly name: string
  readonly rates: readonly (number | null)[]
}

/** Oldest first. All lists are of one length. */
export interface RateHistory {
  /** Unix times in milliseconds, ascending. */
  readonly atMs: readonly number[]
  readonly total: readonly (number | null)[]
  readonly lines: readonly RateLine[]
}

/** One more point of the history. */
export interface RateSample {
  readonly atMs: number
  readonly total: number | null
  readonly lines: Readonly<Record<string, number | null>>
}

export interface DashboardState {
  readonly about: About
  /** Unix time in milliseconds. */
  readonly nowMs: number
  readonly summary: Snapshot
  readonly history: RateHistory
  /** Newest first. */
  readonly blocks: readonly ShownBlock[]
}

export interface DashboardChange {
  readonly nowMs: number
  /** Those fields of the summary that are other than before. */
  readonly summary: Partial<Snapshot>
  readonly samples?: readonly RateSample[]
  /** New blocks, and blocks with news. */
  readonly blocks?: readonly ShownBlock[]
}
