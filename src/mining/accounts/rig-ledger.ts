/** Read access to the accounts of rigs and the log of their shares. */
import type { AccountStore, Accounts } from './accounts.ts'
import type { ShareEntry, ShareStore } from './share-store.ts'

/** A console message about rigs and their share log. */
export interface RigNotice {
  readonly type: 'warning' | 'trouble' | 'recovered' | 'detail'
  readonly message: string
}

/** A share that is a block, with the Unix time at which it was found. */
export type PendingShare = Omit<ShareEntry, 'timeMs'> & { readonly foundMs: number }

/** Shares that are blocks and are not in the store yet. */
export interface PendingBlocks {
  readonly pending: Iterable<PendingShare>
  /** When it returns, the share outlives this process. */
  add(share: PendingShare): void
  /** Called when the store has the share. */
  remove(id: string): void
}

/** Storage of shares and accounts. */
export interface LedgerStorage {
  readonly store: ShareStore
  /** Storage of accounts. If null, each start rebuilds the accounts from seven days of the log. */
  readonly accounts: AccountStore | null
  /** Whether the share is known to be stored. */
  readonly has: (id: string) => boolean
  /** Time of the newest share, or 0. */
  readonly newestMs: number
  /** Pending shares of blocks. Without it, the share of a block is lost if it cannot be written. */
  readonly blocks?: PendingBlocks | undefined
}

export interface RigLedger {
  readonly accounts: Accounts
  /** Null if shares are not stored. */
  readonly storage: LedgerStorage | null
  /** Unix time in milliseconds, never before the newest counted share. */
  readonly nowMs: number
  /** Whether the last write to the share log succeeded. */
  readonly isWell: boolean
}
