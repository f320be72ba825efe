/** What the miner tells its faces (console, metrics) while it runs. */
import type { Verdict, WorkReason } from '../source/source.ts'
import type { Snapshot } from './stats.ts'

export type MinerEvent =
  /** All engines are ready to search, with what. */
  | { readonly type: 'ready'; readonly devices: Snapshot['devices'] }
  /** Engines search new work. `preemptMs`: from the news to every device searching; null for the first work. */
  | {
      readonly type: 'work'
      readonly chain: number
      readonly height: number
      readonly difficulty: number
      readonly reason: WorkReason
      readonly preemptMs: number
    }
  /** There is nothing to search for now. */
  | { readonly type: 'idle' }
  | {
      readonly type: 'solution'
      readonly verdict: Verdict
      readonly chain: number
      readonly height: number
      /** Block hash, base64url. */
      readonly hash: string
      readonly device: string
      /** Hashes since the solution before, in units of what a solution takes on average. */
      readonly effort: number
      readonly submitMs: number
      readonly counts: Snapshot['solutions']
    }
  /** A device claimed a nonce that does not solve. */
  | { readonly type: 'hardwareError'; readonly device: string; readonly nonce: string }
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'trouble'; readonly message: string; readonly retryInMs: number }
  | { readonly type: 'speed'; readonly snapshot: Snapshot }
