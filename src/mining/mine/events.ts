/** Events of a running miner, for the console and the metrics. */

import type { LifeStep, Verdict } from '#ground/chain/solution.ts'
import type { ForkVote, JobReason } from '../source/source.ts'
import type { Pause } from './pauses.ts'
import type { ProfitSnapshot } from './profit.ts'
import type { Snapshot } from './snapshot.ts'

/** First step of a solution, before it is submitted. */
export interface FoundStep {
  readonly step: 'found'
  /** Solved work, base64url. */
  readonly work: string
  /** Mean number of hashes per solution. */
  readonly difficulty: number
}

/** A step in the life of a solution. */
export type SolutionEvent = (FoundStep | LifeStep) & {
  readonly type: 'solution'
  /** Verdict if this step decides or changes it, else null. The solution is counted at that step. */
  readonly verdict: Verdict | null
  /** Whether a verdict other than `unconfirmed` was reported before, in this run or an earlier one. */
  readonly wasDecided: boolean
  /** Id of the job that it solves, and the issuer of that job. */
  readonly job: string
  readonly issuer: string
  readonly chain: number
  readonly height: number
  /** Block hash, base64url. */
  readonly hash: string
  /** Payload hash, base64url. */
  readonly payload: string
  readonly device: string
  /** Hashes since the previous solution, in units of the mean number per solution. */
  readonly effort: number
  /** Whether a share also meets the target of its block. */
  readonly isPoolBlock: boolean
  /** Delay in milliseconds after the news that ended its work, or null if it was found before. */
  readonly lateMs: number | null
  /** Time since it was found. */
  readonly elapsedMs: number
  readonly counts: Snapshot['solutions']
}

export type MinerEvent =
  /** All engines are ready with these devices: at the start, and after engines were exchanged. */
  | { readonly type: 'ready'; readonly devices: Snapshot['devices'] }
  /** Engines search a new job. `preemptMs`: from the news until nearly every device searches it. */
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
  /** The miner has had no job for a while. */
  | { readonly type: 'idle' }
  /**
   * Mining is paused by this cause or by several. The source, its connections and pending solutions continue. Repeated
   * when another cause becomes the foremost.
   */
  | ({ readonly type: 'paused' } & Pause)
  /** All pause causes are cleared. A `work` event with the reason `start` follows as soon as there is a job. */
  | { readonly type: 'resumed' }
  | SolutionEvent
  /** Fork vote of recent work. Sent when it is first known and when it changes. */
  | ({ readonly type: 'forkVote' } & ForkVote)
  /** Leadership of the fleet: whether this process leads, and the leader's name or null if there is none. */
  | { readonly type: 'fleet'; readonly isLeading: boolean; readonly leader: string | null }
  /**
   * Reward of one of our blocks, according to its payload, and the fees of its transactions. Both are coins as decimal
   * numbers; `fees` is absent if they are unreadable.
   */
  | {
      readonly type: 'reward'
      readonly hash: string
      readonly chain: number
      readonly height: number
      readonly amount: string
      readonly fees?: string
    }
  /** Expected income and cost. Sent once the hashrate is known, if the user states prices, and after these change. */
  | { readonly type: 'profit'; readonly profit: ProfitSnapshot }
  /** A device claimed a nonce that is not a solution. */
  | { readonly type: 'hardwareError'; readonly device: string; readonly nonce: string }
  | { readonly type: 'warning'; readonly message: string }
  /** Diagnostics for trouble with rigs. */
  | { readonly type: 'detail'; readonly message: string }
  /** A message for people from the issuer of work. */
  | { readonly type: 'notice'; readonly message: string }
  /** An operation fails and is being retried. Sent once per outage. */
  | { readonly type: 'trouble'; readonly message: string }
  /** The outage is over. */
  | { readonly type: 'recovered'; readonly message: string }
  | { readonly type: 'speed'; readonly snapshot: Snapshot }
