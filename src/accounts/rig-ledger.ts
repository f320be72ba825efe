/** What others see of the accounts of rigs and of the log of their shares. */
import type { AccountStore, Accounts } from './accounts.ts'
import type { ShareEntry, ShareStore } from './share-store.ts'

/** What the console is told of rigs and of their share log. */
export interface RigNotice {
  readonly type: 'warning' | 'trouble' | 'recovered' | 'detail'
  readonly message: string
}

/** A share that is a block, and the time of day at which it was found. */
export type PendingShare = Omit<ShareEntry, 'timeMs'> & { readonly foundMs: number }

/** Shares that are blocks, and that the store does not have yet. */
export interface BlocksOnTheirWay {
  readonly pending: Iterable<PendingShare>
  /** Once it returns the share outlives this process. */
  add(share: PendingShare): void
  /** The store has it. */
  done(id: string): void
}

/** Where shares and accounts are kept. */
export interface Kept {
  readonly store: ShareStore
  /** null: accounts are made from the log of seven days at each start. */
  readonly accounts: AccountStore | null
  /** Whether it is known that a share was kept before. */
  readonly has: (id: string) => boolean
  /** Time of the newest share; 0: there is none. */
  readonly newestMs: number
  /** Shares of blocks that are not in the store yet; undefined: they are given up where it cannot be written. */
  readonly blocks?: BlocksOnTheirWay | undefined
}

export interface RigLedger {
  readonly accounts: Accounts
  /** null: no shares are kept. */
  readonly kept: Kept | null
  /** Time of day, as the accounts count it. */
  readonly nowMs: number
  /** Whether the share log took what was written last. */
  readonly isWell: boolean
}
