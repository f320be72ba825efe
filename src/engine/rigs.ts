/** Port of an engine whose devices are rigs: they connect to it, and speak stratum. */
import type { RefusedVerdict } from '../accounts/account.ts'
import type { RigLedger, RigNotice } from '../accounts/rig-ledger.ts'
import type { ShareCounts } from '../stratum/messages.ts'

export interface RigHost {
  /** Begins to listen once, and tells where. Throws NewcutError PORT_BUSY. */
  listen(): Promise<{ readonly host: string; readonly port: number }>
  status(): StratumStatus
  /** Accounts of the rigs, and the log of their shares. */
  readonly recorder: RigLedger
  /** Whoever is told of rigs and of the share log from here on. */
  tell(receive: (notice: RigNotice) => void): void
  /** Closes all connections, and lets nobody in. */
  close(): Promise<void>
}

export interface StratumStatus {
  /** Connections now. */
  readonly sessions: number
  /** Shares since the start. */
  readonly shares: ShareCounts
  /** By whom the rigs name: 64 of them, and then `others`. */
  readonly users: readonly RigUser[]
  /** By rig, each a device: 256 of them, and then `rigs`. */
  readonly rigs: readonly RigCounts[]
  /** Whether the share log can be written; null: none is kept. */
  readonly isLogWell: boolean | null
}

/** What the rigs of a user did, those that are gone included. */
export interface RigUser {
  readonly user: string
  /** Connections now. */
  readonly sessions: number
  /** Hashes that the accepted shares take on average. */
  readonly hashes: number
  readonly shares: ShareCounts
}

/** What is known of a rig beside what is known of all devices. */
export interface RigCounts {
  readonly device: string
  /** Whom it names; empty: of the device of all other rigs. */
  readonly user: string
  readonly sessions: number
  readonly shares: ShareCounts
  /** Hashes that its shares take now; null: not known. */
  readonly difficulty: number | null
  /** Commonest reason why its shares are refused, while too many are; null: it is well. */
  readonly refusedAs: RefusedVerdict | 'unknown job' | null
}
