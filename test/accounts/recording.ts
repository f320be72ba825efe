/** A recorder of shares with a clock and a store that the test moves. */
import { Accounts } from '../../src/mining/accounts/accounts.ts'
import { type NewShare, type ShareOutcome, ShareRecorder } from '../../src/mining/accounts/recorder.ts'
import type { LedgerStorage, PendingBlocks, PendingShare, RigNotice } from '../../src/mining/accounts/rig-ledger.ts'
import type { RefusedShares, ShareEntry, ShareStore } from '../../src/mining/accounts/share-store.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { shareOf } from './shares.ts'

/** A store whose appends wait until the test releases them. */
export class SlowStore implements ShareStore {
  readonly appended: ShareEntry[] = []
  readonly batches: number[] = []
  readonly counts: RefusedShares[] = []
  isFull = false
  closes = 0
  /** Saves of accounts that have begun. */
  saves = 0
  /** Writes of refusals and saves of accounts wait for this. */
  opens: Promise<void> = Promise.resolve()
  /** Called while refusals are written. */
  onRefuse: () => void = () => undefined
  #waiting: (() => void)[] = []

  async append(shares: readonly ShareEntry[]) {
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (this.isFull) throw new Error('no space')
    this.appended.push(...shares)
    this.batches.push(shares.length)
  }

  async refuse(counts: readonly RefusedShares[]) {
    this.onRefuse()
    await this.opens
    if (this.isFull) throw new Error('no space')
    this.counts.push(...counts)
  }

  async save() {
    if (this.isClosed) throw new Error('closed')
    this.saves++
    await this.opens
  }

  get isClosed(): boolean {
    return this.closes > 0
  }

  async letThrough() {
    await settle()
    for (const resolve of this.#waiting.splice(0)) resolve()
    await settle()
  }

  async *shares() {
    yield* this.appended
  }

  async *refusals() {
    yield* this.counts
  }

  async close() {
    this.closes++
  }
}

/** Shares that an earlier process has left, and what comes of them. */
export class Left implements PendingBlocks {
  readonly shares = new Map<string, PendingShare>()
  get pending() {
    return this.shares.values()
  }
  add(share: PendingShare) {
    this.shares.set(share.id, share)
  }
  remove(id: string) {
    this.shares.delete(id)
  }
}

export const blockOf = (number: number): NewShare => {
  const { timeMs: _, ...share } = shareOf(number, { block: `block-${number}` })
  return share
}

interface RecordingOptions {
  /** Ids that the store has already. */
  readonly known?: readonly string[]
  readonly newestMs?: number
  readonly blocks?: Left
  readonly accounts?: Accounts
}

export function recording({
  known = [],
  newestMs = 0,
  blocks = new Left(),
  accounts = new Accounts({ onWarning: () => undefined }),
}: RecordingOptions = {}) {
  const store = new SlowStore()
  const clock = new VirtualClock()
  const notices: RigNotice[] = []
  const saved = { load: async () => null, save: () => store.save() }
  const kept: LedgerStorage = { store, accounts: saved, has: (id) => known.includes(id), newestMs, blocks }
  const recorder = new ShareRecorder(kept, accounts, clock, (notice) => notices.push(notice))
  const answers: [number, ShareOutcome][] = []
  const accept = (number: number) => {
    const { timeMs, ...share } = shareOf(number)
    recorder.accept(share satisfies NewShare, (outcome) => answers.push([number, outcome]))
  }
  return { store, clock, notices, accounts, recorder, answers, accept, blocks }
}
