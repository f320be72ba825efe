/**
 * Writes a share before it is answered: it counts, and is answered as accepted, once the store has it. Shares that
 * arrive during a write are written together by the next one.
 */
import type { Clock } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { everyAfter } from '#ground/base/signals.ts'
import { minuteOf, type WorkerAccount } from './account.ts'
import type { Accounts } from './accounts.ts'
import type { LedgerStorage, RigLedger, RigNotice } from './rig-ledger.ts'
import type { RefusedShares, ShareEntry, ShareRejection } from './share-store.ts'
import type { WorkerConnection } from './worker-connection.ts'

/** A share before the write that sets its time. */
export type NewShare = Omit<ShareEntry, 'timeMs'>

export type ShareOutcome = 'accepted' | 'duplicate' | 'unavailable'

interface WaitingShare {
  readonly share: NewShare
  readonly answer: (outcome: ShareOutcome) => void
}

/** Maximum number of shares that wait for the store. Further ones are answered as unavailable. */
export const MAX_WAITING = 65_536
/** Maximum number of shares in one write. */
const MAX_BATCH = 2_048
/** Minimum interval between writes. Each write has its own time, so that a replay counts shares in the same order. */
const WRITE_MS = 1
const REFUSED_MS = 1_000
const SAVE_MS = 60_000
/** Maximum number of refusal counters that wait for a write. Beyond it only the accounts count refusals. */
const MAX_REFUSED = 100_000

export class ShareRecorder implements RigLedger {
  readonly accounts: Accounts
  readonly storage: LedgerStorage | null
  readonly #clock: Clock
  readonly #onNotice: (notice: RigNotice) => void
  #waiting: WaitingShare[] = []
  /** The running or next write, or null. */
  #writing: Promise<void> | null = null
  /** Time of the last write. Times of shares never decrease, and no two writes share one. */
  #lastMs: number
  /** Blocks whose shares are in `waiting` or being written. */
  readonly #blocksBeingWritten = new Set<string>()
  /** Blocks whose rigs were answered `unavailable`, until the store has them. */
  readonly #refusedBlocks = new Set<string>()
  readonly #refused = new Map<string, RefusedShares>()
  /** Workers with refusals in this run. */
  readonly #refusing = new WeakSet<WorkerAccount>()
  #isFailing = false
  /** The newest write of refusals. They are written one after the other. */
  #writingRefusals: Promise<boolean> = Promise.resolve(true)
  /** The newest save of accounts. An older one must not replace it. */
  #saving: Promise<void> = Promise.resolve()
  readonly #closed = new AbortController()
  #closing: Promise<void> | null = null

  /** @param storage null if shares are not stored; they count at once */
  constructor(storage: LedgerStorage | null, accounts: Accounts, clock: Clock, onNotice: (notice: RigNotice) => void) {
    this.storage = storage
    this.accounts = accounts
    this.#clock = clock
    this.#onNotice = onNotice
    this.#lastMs = Math.max(storage?.newestMs ?? 0, accounts.throughMs)
    if (storage === null) return
    this.#writeBlocks()
    everyAfter(this.#clock, REFUSED_MS, this.#closed.signal, async () => {
      this.#writeBlocks()
      await this.#writeRefusals()
    })
    everyAfter(this.#clock, SAVE_MS, this.#closed.signal, () => this.save())
  }

  /** Number of shares that wait for the store. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Whether the last write succeeded. */
  get isWell(): boolean {
    return !this.#isFailing
  }

  /** Unix time in milliseconds, never before the newest counted share. */
  get nowMs(): number {
    return Math.max(this.#clock.wallMs(), this.#lastMs)
  }

  /** Counts an accepted share when none are stored. */
  count(by: WorkerConnection, difficulty: number, isBlock: boolean): void {
    this.accounts.accept(by, difficulty, isBlock, this.#nextMs(0))
  }

  /**
   * Secures the share of a block before the block is submitted. The store gets it even if this process dies, whatever
   * the rig is answered.
   */
  secure(share: NewShare): void {
    this.storage?.blocks?.add({ ...share, foundMs: this.#clock.wallMs() })
  }

  /** Counts the block of a refused share when no shares are stored. */
  countBlock(by: Pick<NewShare, 'user' | 'worker'>): void {
    this.accounts.addBlock(by, this.#nextMs(0))
  }

  /** Stores a share, counts it, and answers. */
  accept(share: NewShare, answer: (outcome: ShareOutcome) => void): void {
    if (share.block === null) this.#enqueue(share, answer)
    else
      this.#enqueue(share, (outcome) => {
        if (outcome === 'unavailable') this.#refusedBlocks.add(share.id)
        answer(outcome)
      })
  }

  #enqueue(share: NewShare, answer: (outcome: ShareOutcome) => void): void {
    if (this.storage === null || this.#closed.signal.aborted || this.#waiting.length >= MAX_WAITING)
      answer('unavailable')
    else {
      if (share.block !== null) this.#blocksBeingWritten.add(share.id)
      this.#waiting.push({ share, answer })
      this.#writing ??= this.#writeAll(this.storage)
    }
  }

  /**
   * Counts a refusal.
   * @returns true if it is the first of its worker
   */
  refuse(user: string, worker: string, verdict: ShareRejection, isUnknownJob = false): boolean {
    const nowMs = this.#clock.wallMs()
    const account = this.accounts.refuse(user, worker, verdict, nowMs, isUnknownJob)
    const isFirst = !this.#refusing.has(account)
    this.#refusing.add(account)
    if (this.storage === null) return isFirst
    const minuteMs = minuteOf(nowMs)
    const key = `${minuteMs} ${verdict} ${account.key}`
    const count = (this.#refused.get(key)?.count ?? 0) + 1
    if (count > 1 || this.#refused.size < MAX_REFUSED)
      this.#refused.set(key, { minuteMs, user, worker, verdict, count })
    return isFirst
  }

  /** Resolves once nothing waits. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing
    await this.#writeRefusals()
  }

  /** Saves the accounts. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save())
    return this.#saving
  }

  async #save(): Promise<void> {
    const store = this.storage?.accounts ?? null
    // Refusals may come all the time, so those that came during the write hold nothing back.
    if (store === null || !(await this.#writeRefusals())) return
    await this.#attempt(() => this.accounts.save(store, this.#clock.wallMs()))
  }

  /** Answers waiting shares, saves the accounts, and closes the store. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#closed.abort()
    this.storage?.store.hasten?.()
    await this.flush()
    await this.save()
    await this.storage?.store.close()
  }

  /** Writes batches, one at a time, while shares wait. */
  async #writeAll(storage: LedgerStorage): Promise<void> {
    // Collect all shares that arrive in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const timeMs = this.#nextMs(1)
      const batch = this.#nextBatch(storage)
      // The order of a replay.
      const entries = batch.map(({ share }): ShareEntry => Object.assign({}, share, { timeMs }))
      const shares = entries.sort((a, b) => (a.id < b.id ? -1 : 1))
      const isKept = shares.length === 0 || (await this.#attempt(() => storage.store.append(shares)))
      for (const share of shares) {
        if (isKept) this.accounts.acceptLogged(share)
        if (share.block !== null) this.#wroteBlock(share.id, isKept)
      }
      const outcome = isKept ? 'accepted' : 'unavailable'
      for (const { answer } of batch) answer(outcome)
      if (this.#waiting.length > 0 && this.#clock.wallMs() <= timeMs) await this.#pause()
    }
    this.#writing = null
  }

  /** The oldest waiting shares. Answers duplicates at once, also of shares sent to an earlier process. */
  #nextBatch({ has }: LedgerStorage): readonly WaitingShare[] {
    const waiting = this.#waiting.splice(0, MAX_BATCH)
    const ids = new Set<string>()
    return waiting.filter(({ share: { id }, answer }) => {
      const isNew = !ids.has(id) && !has(id)
      ids.add(id)
      if (!isNew) answer('duplicate')
      if (has(id)) this.#wroteBlock(id, true)
      return isNew
    })
  }

  /** Writes pending shares of blocks. */
  #writeBlocks(): void {
    for (const { foundMs: _, ...share } of this.storage?.blocks?.pending ?? []) {
      if (this.#blocksBeingWritten.has(share.id)) continue
      const refusedAs = this.#refusedBlocks.has(share.id) ? 'unavailable' : share.refusedAs
      this.#enqueue(refusedAs === undefined ? share : { ...share, refusedAs }, () => undefined)
    }
  }

  #wroteBlock(id: string, isKept: boolean): void {
    this.#blocksBeingWritten.delete(id)
    if (!isKept) return
    this.#refusedBlocks.delete(id)
    this.storage?.blocks?.remove(id)
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(WRITE_MS, resolve))
  }

  /** Unix time in milliseconds, but at least `leastStep` after the last one. */
  #nextMs(leastStep: number): number {
    this.#lastMs = Math.max(Math.floor(this.#clock.wallMs()), this.#lastMs + leastStep)
    return this.#lastMs
  }

  /**
   * Runs a write. Reports the first failure and the recovery.
   * @returns false if it failed
   */
  async #attempt(write: () => Promise<void>): Promise<boolean> {
    try {
      await write()
    } catch (error) {
      const after = 'shares are refused until it can be written; newcut still submits blocks'
      if (!this.#isFailing) this.#onNotice({ type: 'trouble', message: `${describeError(error)}: ${after}` })
      this.#isFailing = true
      return false
    }
    if (this.#isFailing) this.#onNotice({ type: 'recovered', message: 'the share log can be written again' })
    this.#isFailing = false
    return true
  }

  /**
   * Writes the refusals so far.
   * @returns false if the store lacks some
   */
  #writeRefusals(): Promise<boolean> {
    this.#writingRefusals = this.#writingRefusals.then(() => this.#writeRefusalsOnce())
    return this.#writingRefusals
  }

  async #writeRefusalsOnce(): Promise<boolean> {
    const { storage } = this
    if (storage === null || this.#refused.size === 0) return true
    const counts = [...this.#refused.values()]
    this.#refused.clear()
    if (await this.#attempt(() => storage.store.refuse(counts))) return true
    for (const each of counts) {
      const key = `${each.minuteMs} ${each.verdict} ${each.user}\n${each.worker}`
      this.#refused.set(key, { ...each, count: each.count + (this.#refused.get(key)?.count ?? 0) })
    }
    return false
  }
}
