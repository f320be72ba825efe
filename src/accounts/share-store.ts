/** The shares that rigs are credited with, and the port of the stores that keep them: on disk, or in JetStream. */
import type { ShareVerdict } from '../stratum/messages.ts'

/** A share that was accepted. */
export interface ShareEntry {
  /** Hash of the share: 43 characters of base64url. A store keeps each id once. */
  readonly id: string
  /** Time of day. */
  readonly timeMs: number
  /** Account that the rig names, such as `k:...`. */
  readonly user: string
  /** Name behind the account. */
  readonly worker: string
  /** What the rig's program calls itself. */
  readonly agent: string
  /** IP address of the rig. */
  readonly address: string
  readonly chain: number
  readonly height: number
  /** Hashes that the share takes on average, by the target that the rig was told for its job. */
  readonly difficulty: number
  /** Hashes that a block of its work takes on average. */
  readonly blockDifficulty: number
  /** Hash of the block that the share solves, as in JSON; null: it solves none. */
  readonly block: string | null
}

/** Shares of a worker that were refused for one reason within one minute. */
export interface RefusedShares {
  /** Time of day at which the minute begins. */
  readonly minuteMs: number
  readonly user: string
  readonly worker: string
  readonly verdict: Exclude<ShareVerdict, 'accepted'>
  readonly count: number
}

/** Times of day; from `fromMs` on, and before `untilMs`. undefined: without this bound. */
export interface TimeRange {
  readonly fromMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** What reports and payouts read. */
export interface ShareReader {
  /** In the order of time and id; `newestFirst`: the other way round. */
  shares(range?: TimeRange & { readonly newestFirst?: boolean }): AsyncIterable<ShareEntry>
  /** In the order of time. */
  refused(range?: TimeRange): AsyncIterable<RefusedShares>
  close(): Promise<void>
}

export interface ShareStore extends ShareReader {
  /**
   * Resolves once the shares outlive this process, and each id is kept once. Throws NewcutError where they cannot be
   * kept: then no share may be answered as accepted.
   */
  append(shares: readonly ShareEntry[]): Promise<void>
  /** Adds to the counts of each minute. */
  refuse(counts: readonly RefusedShares[]): Promise<void>
  /** The process is about to end: what cannot be kept soon is given up. */
  hasten?(): void
}
