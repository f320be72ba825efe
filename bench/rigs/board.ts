/** A board of a model rig: its current work, and the times of its shares. */
import type { Clock } from '../../src/ground/base/clock.ts'
import { type ModelNonce, modelNonce } from './model-hash.ts'

export interface BoardOptions {
  readonly hashrate: number
  /** Hashes per header. Afterwards the same nonces repeat. */
  readonly space: number
  readonly leastShare: number
  /** Interval at which it accepts new work in milliseconds; 0 for at once. */
  readonly pushMs: number
  /** Phase of that interval. */
  readonly phaseMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly onShare: (jobId: string, nonce2: string) => void
}

/** A header, and the expected number of hashes per share. */
export interface BoardWork {
  readonly jobId: string
  readonly header: string
  readonly difficulty: number
}

interface Find extends ModelNonce {
  readonly atHash: number
}

/** Time of boards in milliseconds. */
export interface BoardTime {
  /** On new nonces. */
  fresh: number
  /** On repeated nonces. */
  repeated: number
  /** Without a header. */
  idle: number
}

/** Rounding tolerance in hashes. */
const ROUNDING = 1e7

export class Board {
  readonly #options: BoardOptions
  /** Time since `measure`. */
  time: BoardTime = { fresh: 0, repeated: 0, idle: 0 }
  #work: BoardWork | null = null
  /** Work for the next push. */
  #next: BoardWork | null = null
  /** Whether it searches its header. */
  #searches = true
  /** Hashes on the current header at the last count. */
  #done = 0
  #countedAtMs: number
  #finds: Find[] = []
  #cancelShare: () => void = () => undefined
  #cancelPush: (() => void) | null = null

  constructor(options: BoardOptions) {
    this.#options = options
    this.#countedAtMs = options.clock.monotonicMs()
  }

  /** Restarts the measurement. */
  measure(): void {
    this.count()
    this.time = { fresh: 0, repeated: 0, idle: 0 }
  }

  /** Gives other work or another target. The same header continues. */
  give(work: BoardWork): void {
    this.#next = work
    const { pushMs, phaseMs, clock } = this.#options
    if (pushMs === 0) {
      this.#take()
      return
    }
    const nowMs = clock.monotonicMs()
    const dueMs = phaseMs + Math.ceil((nowMs - phaseMs) / pushMs) * pushMs
    this.#cancelPush ??= clock.after(Math.max(0, dueMs - nowMs), () => {
      this.#cancelPush = null
      this.#take()
    })
  }

  set searches(searches: boolean) {
    this.count()
    this.#searches = searches
    this.#plan()
  }

  /** Takes the work away. */
  drop(): void {
    this.count()
    this.#work = null
    this.#next = null
    this.#cancelShare()
    this.#cancelPush?.()
    this.#cancelPush = null
  }

  /** Counts the work done until now. */
  count(): void {
    const nowMs = this.#options.clock.monotonicMs()
    const elapsedMs = nowMs - this.#countedAtMs
    this.#countedAtMs = nowMs
    if (this.#work === null || !this.#searches) {
      this.time.idle += elapsedMs
      return
    }
    const { space, hashrate } = this.#options
    const freshMs = Math.min(elapsedMs, (Math.max(0, space - this.#done) / hashrate) * 1000)
    this.time.fresh += freshMs
    this.time.repeated += elapsedMs - freshMs
    this.#done += (hashrate * elapsedMs) / 1000
  }

  #take(): void {
    const next = this.#next
    if (next === null) return
    this.count()
    if (next.header !== this.#work?.header) {
      this.#done = 0
      this.#finds = []
    }
    this.#work = next
    this.#plan()
  }

  /** Schedules the next share: a new one in the first pass of the nonces, a repeated one in later passes. */
  #plan(): void {
    this.#cancelShare()
    const { space, hashrate, leastShare, random, clock, onShare } = this.#options
    const work = this.#work
    if (work === null || !this.#searches) return
    const least = Math.max(leastShare, work.difficulty)
    let find: Find | null = null
    let inHashes = 0
    if (this.#done < space) {
      inHashes = -Math.log(1 - random()) * least
      if (this.#done + inHashes < space) find = { ...modelNonce(least, random), atHash: this.#done + inHashes }
      else inHashes = space - this.#done
    }
    if (find === null) {
      const at = this.#done < space ? 0 : this.#done % space
      const again = this.#finds.filter(({ difficulty }) => difficulty >= work.difficulty)
      if (again.length === 0) return
      const next = again.find(({ atHash }) => atHash > at + ROUNDING) ?? again[0]
      inHashes += next.atHash > at + ROUNDING ? next.atHash - at : space - at + next.atHash
      find = next
    }
    const share = find
    this.#cancelShare = clock.after((inHashes * 1000) / hashrate, () => {
      this.count()
      if (this.#done <= space) this.#finds.push(share)
      onShare(work.jobId, share.nonce2)
      this.#plan()
    })
  }
}
