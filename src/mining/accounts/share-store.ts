/** Accepted shares and blocks of rigs, and the interface of the stores for them: on disk or in JetStream. */
import type { ShareVerdict } from '../stratum/messages.ts'

/** An accepted share, or a refused one that is a block. */
export interface ShareEntry {
  /** Hash of the share, 43 characters of base64url. A store keeps each id once. */
  readonly id: string
  /** Unix time in milliseconds. */
  readonly timeMs: number
  /** Account that the rig names, such as `k:...`. */
  readonly user: string
  /** Worker name after the account. */
  readonly worker: string
  /** Name that the rig's program reports. */
  readonly agent: string
  /** IP address of the rig. */
  readonly address: string
  readonly chain: number
  readonly height: number
  /** Mean number of hashes for the share, by the target that was sent to the rig for its job. */
  readonly difficulty: number
  /** Mean number of hashes for a block of its work. */
  readonly blockDifficulty: number
  /** Base64url hash of the block that the share is, or null if it is none. */
  readonly block: string | null
  /**
   * Verdict that the rig got, if the share was refused. The log has it for its block alone: accounts count it as
   * refused, and never as accepted.
   */
  readonly refusedAs?: ShareRejection | undefined
}

/** Why a share was refused. */
export type ShareRejection = Exclude<ShareVerdict, 'accepted'>

/** Number of shares of a worker that were refused for one reason within one minute. */
export interface RefusedShares {
  /** Unix time in milliseconds at which the minute begins. */
  readonly minuteMs: number
  readonly user: string
  readonly worker: string
  readonly verdict: ShareRejection
  readonly count: number
}

/** Unix times in milliseconds: from `fromMs`, and before `untilMs`. Undefined means unbounded. */
export interface TimeRange {
  readonly fromMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** Read access for reports and payouts. */
export interface ShareReader {
  /** Sorted by time and id, or in reverse with `newestFirst`. */
  shares(range?: TimeRange & { readonly newestFirst?: boolean }): AsyncIterable<ShareEntry>
  /** Sorted by time. */
  refusals(range?: TimeRange): AsyncIterable<RefusedShares>
  close(): Promise<void>
}

export interface ShareStore extends ShareReader {
  /**
   * Resolves once the shares outlive this process. Each id is stored once.
   * @throws NewcutError if they cannot be stored; then no share may be answered as accepted
   */
  append(shares: readonly ShareEntry[]): Promise<void>
  /** Adds to the counts of each minute. */
  refuse(counts: readonly RefusedShares[]): Promise<void>
  /** Called before shutdown: the store soon abandons what it cannot write. */
  hasten?(): void
}
