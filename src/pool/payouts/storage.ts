/** Storage of payouts: a journal and a lock in a folder. */
import { lockPayouts, type PayoutLock } from './lock.ts'
import { PayoutJournal, type PayoutLines, payoutFile, readPayoutFile } from './payout-journal.ts'

export interface PayoutStorage {
  /** The journal file, for messages. */
  readonly path: string
  /** @throws NewcutError DATA_UNUSABLE if another process holds the lock */
  lock(): Promise<PayoutLock>
  /** @throws like readPayoutFile */
  read(): PayoutLines
  /** @throws like PayoutJournal.open */
  open(nowMs: () => number): PayoutJournal
}

/** The payouts of a state folder. */
export const payoutStorageIn = (folder: string): PayoutStorage => ({
  path: payoutFile(folder),
  lock: () => lockPayouts(folder),
  read: () => readPayoutFile(folder),
  open: (nowMs) => PayoutJournal.open(folder, nowMs),
})
