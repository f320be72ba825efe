/**
 * What stands between the judgement of a share and its answer: a share counts, and is answered as accepted, once its store
 * has it. Shares that come during a write go into the next one together.
 */
import type { Clock } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { minuteOf, type RefusedVerdict, type WorkerAccount } from './account.ts'
import type { Accounts, Presence } from './accounts.ts'
import type { Kept, RigLedger, RigNotice } from './rig-ledger.ts'
import type { RefusedShares, ShareEntry } from './share-store.ts'

/** A share without the time at which it is kept. */
export type NewShare = Omit<ShareEntry, 'timeMs'>

export type KeepOutcome = 'accepted' | 'duplicate' | 'unavailable'

interface Waiting {
  readonly share: NewShare
  readonly answer: (outcome: KeepOutcome) => void
}

/** Shares that wait for the store. Further ones are answered as unavailable. */
export const MAX_WAITING = 65_536
/** Shares of a write. */
const MAX_BATCH = 2_048
/** Time between two writes: each has a time of its own, so that shares are replayed in the order in which they counted. */
const WRITE_MS = 1
const REFUSED_MS = 1_000
const SAVE_MS = 60_000
/** Workers and reasons whose refusals wait for the next write. Further ones are counted in their accounts alone. */
const MAX_REFUSED = 100_000

export class ShareRecorder implements RigLedger {
  readonly accounts: Accounts
  readonly kept: Kept | null
  readonly #clock: Clock
  readonly #onNotice: (notice: RigNotice) => void
  #waiting: Waiting[] = []
  /** The write that goes on, or is about to begin; null: none. */
  #writing: Promise<void> | null = null
  /** Of the last write: those of shares never fall, and no two writes have the same. */
  #lastMs: number
  /** Blocks whose shares are in `waiting`, or with the store. */
  readonly #blocksUnderWay = new Set<string>()
  readonly #refused = new Map<string, RefusedShares>()
  /** Those with refusals in this run. */
  readonly #refusing = new WeakSet<WorkerAccount>()
  #isFailing = false
  readonly #cancels: (() => void)[] = []
  #isClosed = false
  #closing: Promise<void> | null = null

  /** `kept`: null where no shares are kept: then they count at once. */
  constructor(kept: Kept | null, accounts: Accounts, clock: Clock, onNotice: (notice: RigNotice) => void) {
    this.kept = kept
    this.accounts = accounts
    this.#clock = clock
    this.#onNotice = onNotice
    this.#lastMs = Math.max(kept?.newestMs ?? 0, accounts.throughMs)
    if (kept === null) return
    this.#keepBlocks()
    this.#repeat(REFUSED_MS, async () => {
      this.#keepBlocks()
      await this.#keepRefused()
    })
    this.#repeat(SAVE_MS, () => this.save())
  }

  /** Shares that wait for the store. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Whether the store took what was written last. */
  get isWell(): boolean {
    return !this.#isFailing
  }

  /** Time of day, as the accounts count it. */
  get nowMs(): number {
    return Math.max(this.#clock.wallMs(), this.#lastMs)
  }

  /** Counts a share where none are kept. */
  count(by: Presence, difficulty: number, isBlock: boolean): void {
    this.accounts.accept(by, difficulty, isBlock, this.#nextMs(0))
  }

  /**
   * Makes sure of the share of a block, before that is handed in: it comes into the store in the end, even if this process
   * dies, and whatever the rig is answered.
   */
  secure(share: NewShare): void {
    this.kept?.blocks?.add({ ...share, foundMs: this.#clock.wallMs() })
  }

  /** Keeps a share, counts it and answers. */
  accept(share: NewShare, answer: (outcome: KeepOutcome) => void): void {
    if (this.kept === null || this.#isClosed || this.#waiting.length >= MAX_WAITING) answer('unavailable')
    else {
      if (share.block !== null) this.#blocksUnderWay.add(share.id)
      this.#waiting.push({ share, answer })
      this.#writing ??= this.#writeAll(this.kept)
    }
  }

  /** Counts a refusal. True: it is the first of its worker. */
  refuse(user: string, worker: string, verdict: RefusedVerdict, isUnknownJob = false): boolean {
    const nowMs = this.#clock.wallMs()
    const account = this.accounts.refuse(user, worker, verdict, nowMs, isUnknownJob)
    const isFirst = !this.#refusing.has(account)
    this.#refusing.add(account)
    if (this.kept === null) return isFirst
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
    await this.#keepRefused()
  }

  /** Saves the accounts. */
  async save(): Promise<void> {
    const store = this.kept?.accounts ?? null
    if (store === null) return
    await this.#keepRefused()
    if (this.#refused.size > 0) return
    await this.#attempt(() => this.accounts.save(store, this.#clock.wallMs()))
  }

  /** Answers what waits, saves the accounts, and closes the store. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#isClosed = true
    for (const cancel of this.#cancels) cancel()
    this.kept?.store.hasten?.()
    await this.flush()
    await this.save()
    await this.kept?.store.close()
  }

  /** One write after the other, as long as shares wait. */
  async #writeAll(kept: Kept): Promise<void> {
    // All shares that are read in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const timeMs = this.#nextMs(1)
      const batch = this.#nextBatch(kept)
      // They are replayed in this order.
      const shares = batch.map(({ share }): ShareEntry => ({ ...share, timeMs })).sort((a, b) => (a.id < b.id ? -1 : 1))
      const isKept = shares.length === 0 || (await this.#attempt(() => kept.store.append(shares)))
      for (const share of shares) {
        if (isKept) this.accounts.acceptKept(share)
        if (share.block !== null) this.#wroteBlock(share.id, isKept)
      }
      const outcome = isKept ? 'accepted' : 'unavailable'
      for (const { answer } of batch) answer(outcome)
      if (this.#waiting.length > 0 && this.#clock.wallMs() <= timeMs) await this.#pause()
    }
    this.#writing = null
  }

  /** What waits longest. What was handed in before is answered, be it to an earlier process. */
  #nextBatch({ has }: Kept): readonly Waiting[] {
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

  /** Hands blocks to the store that it does not have yet. */
  #keepBlocks(): void {
    for (const { foundMs: _, ...share } of this.kept?.blocks?.pending ?? []) {
      if (!this.#blocksUnderWay.has(share.id)) this.accept(share, () => undefined)
    }
  }

  #wroteBlock(id: string, isKept: boolean): void {
    this.#blocksUnderWay.delete(id)
    if (isKept) this.kept?.blocks?.done(id)
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(WRITE_MS, resolve))
  }

  /** The time of day, or the last one and so much more where that is not before it. */
  #nextMs(leastStep: number): number {
    this.#lastMs = Math.max(Math.floor(this.#clock.wallMs()), this.#lastMs + leastStep)
    return this.#lastMs
  }

  /** False: it failed, which is told once until it succeeds again. */
  async #attempt(write: () => Promise<void>): Promise<boolean> {
    try {
      await write()
    } catch (error) {
      const after = 'shares are refused until it can be written; blocks are handed in all the same'
      if (!this.#isFailing) this.#onNotice({ type: 'trouble', message: `${describeError(error)}: ${after}` })
      this.#isFailing = true
      return false
    }
    if (this.#isFailing) this.#onNotice({ type: 'recovered', message: 'the share log can be written again' })
    this.#isFailing = false
    return true
  }

  async #keepRefused(): Promise<void> {
    const { kept } = this
    if (kept === null || this.#refused.size === 0) return
    const counts = [...this.#refused.values()]
    this.#refused.clear()
    if (await this.#attempt(() => kept.store.refuse(counts))) return
    for (const each of counts) {
      const key = `${each.minuteMs} ${each.verdict} ${each.user}\n${each.worker}`
      this.#refused.set(key, { ...each, count: each.count + (this.#refused.get(key)?.count ?? 0) })
    }
  }

  /** The next turn begins so long after the last one has ended. */
  #repeat(everyMs: number, turn: () => Promise<void>): void {
    const wait = (index: number) => {
      if (this.#isClosed) return
      this.#cancels[index] = this.#clock.after(everyMs, () => void turn().then(() => wait(index)))
    }
    wait(this.#cancels.push(() => undefined) - 1)
  }
}
