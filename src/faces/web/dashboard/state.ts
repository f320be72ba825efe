/**
 * The state of the dashboard as it travels over the event stream (`GET /api/events`), in JSON events:
 *
 *     event: state    the full state (DashboardState): first, and after a slow client has caught up
 *     event: change   the changes since the last event (DashboardChange), once a second, sooner after news
 */

import type { StepName } from '#ground/chain/solution.ts'
import type { HardwareSnapshot } from '#mining/mine/hardware.ts'
import type { MoneyParts } from '#mining/mine/profit.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'

export type { HardwareSnapshot, MoneyParts, Snapshot }

/** The constant part of the state. */
export interface About {
  readonly version: string
  readonly network: string
  /** The account that block rewards go to. */
  readonly account: string
}

/** A solution of this miner and its progress. */
export interface ShownBlock {
  /** Block hash, base64url. */
  readonly hash: string
  readonly chain: number
  readonly height: number
  readonly device: string
  /** Hashes spent, relative to the expected number of hashes per solution. */
  readonly effort: number
  /** Unix time in milliseconds. */
  readonly foundAtMs: number
  readonly state: StepName
  /** Depth of a confirmed block; 1 is the head of its chain. */
  readonly depth: number | null
  /** Reward in coins as a decimal number, or null if unknown. */
  readonly reward: string | null
  /** Why it was rejected or lost. */
  readonly message: string | null
}

/** 10 s hashrates of a line in H/s, null where unknown. */
export interface RateLine {
  /** A device such as `gpu0`, or an engine such as `cpu` that stands for many devices. */
  readonly name: string
  readonly rates: readonly (number | null)[]
}

/** Samples, oldest first. All lists have the same length. */
export interface RateHistory {
  /** Unix times in milliseconds, ascending. */
  readonly atMs: readonly number[]
  readonly total: readonly (number | null)[]
  readonly lines: readonly RateLine[]
}

/** One sample of the history. */
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
  /** Blocks, newest first. */
  readonly blocks: readonly ShownBlock[]
}

export interface DashboardChange {
  readonly nowMs: number
  /** The fields of the summary that changed. */
  readonly summary: Partial<Snapshot>
  readonly samples?: readonly RateSample[]
  /** New and changed blocks. */
  readonly blocks?: readonly ShownBlock[]
}
