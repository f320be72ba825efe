/** Port 1: where work comes from and where solutions go. The miner knows sources only through this file. */
import type { Work } from '../core/work.ts'

/** Why there is new work. `newCut`: its chain moved on, so the work before it is lost (preempted). */
export type WorkReason = 'start' | 'newCut' | 'solved' | 'refreshed' | 'reconnected'

export interface SourceWork {
  readonly work: Work
  readonly reason: WorkReason
  /** When the cause was noticed, on the clock that never jumps. */
  readonly noticedAtMs: number
}

/** Why a node refuses a solution: a closed set, so that no peer can grow a label. */
export type RejectReason = 'invalid-pow' | 'invalid-payload' | 'no-payload' | 'undecodable' | 'unauthorized' | 'unknown'

/** What became of a solution. */
export type Verdict =
  /** `confirmed`: the node's chain holds the block; else the node took it but could not be asked. */
  | { readonly kind: 'accepted'; readonly confirmed: boolean }
  | { readonly kind: 'stale' }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }

export interface SourceEvents {
  /** Something went wrong that is being retried. */
  readonly onTrouble: (message: string, retryInMs: number) => void
}

export interface Source {
  /** One line for people: what is mined, and where. */
  readonly description: string
  /** Length of the work to expect. */
  readonly workBytes: number
  /**
   * The newest work, over and over, until the signal aborts; null: nothing to mine for now. A reader that is slow gets
   * the newest only. Throws NewcutError for failures that retrying cannot cure.
   */
  works(signal: AbortSignal, events: SourceEvents): AsyncIterable<SourceWork | null>
  /** Sends solved work bytes. Never throws. */
  submit(solution: Uint8Array): Promise<Verdict>
  /** Whether news of the current work's chain gets through. */
  readonly connected: boolean
  /** A time (microseconds) that the validating clock has surely reached; null when it is not known. */
  validatorTime(): bigint | null
}
