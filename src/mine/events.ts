/** Events that the miner reports to console and metrics while it runs. */

import type { LifeStep, Verdict } from '../core/solution.ts'
import type { ForkVote, JobReason } from '../source/source.ts'
import type { Pause } from './pauses.ts'
import type { Snapshot } from './snapshot.ts'

/** The first step: nothing has happened to the solution yet. */
export interface Found {
  readonly step: 'found'
  /** The solved work, base64url. */
  readonly work: string
  /** Hashes that a solution takes on average. */
  readonly difficulty: number
}

/** A step in the life of a solution. */
export type SolutionEvent = (Found | LifeStep) & {
  readonly type: 'solution'
  /** The verdict, at the step that decides it or changes it; else null. The solution is counted at that step. */
  readonly verdict: Verdict | null
  /** Whether a verdict but `unconfirmed` was told of before, in this run or an earlier one. */
  readonly wasDecided: boolean
  /** Id of the job that it solves, and who issued that job. */
  readonly job: string
  readonly issuer: string
  readonly chain: number
  readonly height: number
  /** Block hash, base64url. */
  readonly hash: string
  /** Hash of the block's payload, base64url. */
  readonly payload: string
  readonly device: string
  /** Hashes since the previous solution, in units of what a solution takes on average. */
  readonly effort: number
  /** A share whose hash also meets the target of its block. */
  readonly isPoolBlock: boolean
  /** How long after the news that ended its work it was found; null: before. */
  readonly lateMs: number | null
  /** Time since it was found. */
  readonly elapsedMs: number
  readonly counts: Snapshot['solutions']
}

export type MinerEvent =
  /** All engines are ready to search, with these devices: at the start, and when others have taken their place. */
  | { readonly type: 'ready'; readonly devices: Snapshot['devices'] }
  /** Engines search a new job. `preemptMs`: from the news to nearly every device searching. */
  | {
      readonly type: 'work'
      readonly job: string
      readonly issuer: string
      readonly chain: number
      readonly height: number
      readonly difficulty: number
      readonly reason: JobReason
      readonly preemptMs: number
    }
  /** There has been nothing to search for a while. */
  | { readonly type: 'idle' }
  /**
   * Nothing is searched while this cause, or another, holds. Source, connections and solutions on their way go on. Told
   * again when another cause becomes the foremost.
   */
  | ({ readonly type: 'paused' } & Pause)
  /** No cause holds any more. The newest job is searched again, or for the first time: a `work` event with the reason `start` follows. */
  | { readonly type: 'resumed' }
  | SolutionEvent
  /** What the work of the miner votes of late. Told when it is known first, and when it changes. */
  | ({ readonly type: 'forkVote' } & ForkVote)
  /** This process gives the rigs of a fleet their work from now on; or another one does, or nobody (null). */
  | { readonly type: 'fleet'; readonly isLeading: boolean; readonly leader: string | null }
  /** What a block of ours paid, as its payload tells. `amount`: coins, a decimal number. */
  | {
      readonly type: 'reward'
      readonly hash: string
      readonly chain: number
      readonly height: number
      readonly amount: string
    }
  /** A device claimed a nonce that does not solve. */
  | { readonly type: 'hardwareError'; readonly device: string; readonly nonce: string }
  | { readonly type: 'warning'; readonly message: string }
  /** Of use to whoever looks for the cause of trouble with rigs. */
  | { readonly type: 'detail'; readonly message: string }
  /** Something fails and is being retried. Reported once for an outage. */
  | { readonly type: 'trouble'; readonly message: string }
  /** The outage is over. */
  | { readonly type: 'recovered'; readonly message: string }
  | { readonly type: 'speed'; readonly snapshot: Snapshot }
