/** Interface of an engine whose devices are rigs: they connect to it and speak stratum. */
import type { RigLedger, RigNotice } from '../accounts/rig-ledger.ts'
import type { ShareRejection } from '../accounts/share-store.ts'
import type { ShareCounts } from '../stratum/messages.ts'
import type { RefusalCounts } from '../stratum/refusals.ts'

export interface RigAddress {
  readonly host: string
  readonly port: number
  /** Address for proxies of newcut, or null if they are not served. */
  readonly proxies?: { readonly host: string; readonly port: number } | null
}

export interface RigHost {
  /**
   * Starts to listen, once.
   * @throws NewcutError PORT_BUSY
   */
  listen(): Promise<RigAddress>
  status(): StratumStatus
  /** Accounts of the rigs, and the log of their shares. */
  readonly recorder: RigLedger
  /** Sets the receiver of messages about rigs and the share log. */
  setNoticeListener(receive: (notice: RigNotice) => void): void
  /** Closes all connections, and accepts no more. */
  close(): Promise<void>
}

export interface StratumStatus {
  /** Number of open connections. */
  readonly sessions: number
  /** Shares since the start. */
  readonly shares: ShareCounts
  /** Refused requests and closed connections since the start, by reason. */
  readonly refusals: RefusalCounts
  /** By user name: 64 users, and then `others`. */
  readonly users: readonly RigUser[]
  /** By rig, a device each: 256 rigs, and then `rigs`. */
  readonly rigs: readonly RigCounts[]
  /** Whether the share log can be written, or null without one. */
  readonly isLogWell: boolean | null
  /** Refused rigs of a pool, by reason; undefined without a pool. */
  readonly sentAway?: Readonly<Record<string, number>>
}

/** Counters of a user's rigs, including those that are gone. */
export interface RigUser {
  readonly user: string
  /** Number of open connections. */
  readonly sessions: number
  /** Sum of the difficulties of accepted shares. */
  readonly hashes: number
  readonly shares: ShareCounts
}

/** Counters of a rig, in addition to those of all devices. */
export interface RigCounts {
  readonly device: string
  /** User that it names; empty for the shared device of all other rigs. */
  readonly user: string
  readonly sessions: number
  readonly shares: ShareCounts
  /** Current share difficulty in hashes, or null if unknown. */
  readonly difficulty: number | null
  /** The most frequent reason of refused shares while there are too many, or null. */
  readonly refusedAs: ShareRejection | 'unknown job' | null
}
