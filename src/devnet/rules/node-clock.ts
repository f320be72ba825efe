/**
 * Clock of an embedded node. It follows the wall clock of the machine forwards, and goes back by a control request
 * only: block times only rise.
 *
 * If the wall clock is set back, this clock continues at the pace of the monotonic clock, ahead of the wall clock by as
 * much. If it waited for the wall clock instead, blocks would follow each other by a microsecond each. Difficulty
 * adjustment would take that for enormous hash power.
 */
import type { Clock } from '#ground/base/clock.ts'

/** A clock that stands still until the next block. */
export interface HeldClock {
  /** Microseconds since the UNIX epoch: the creation time of the next block. */
  readonly at: bigint
  /** Each block moves the clock on by this many microseconds. If this is null, the next block sets the clock going. */
  readonly step: bigint | null
}

/** The wall clock counts whole milliseconds: a smaller difference means nothing. */
const WALL_RESOLUTION_MS = 2

export class NodeClock {
  readonly #clock: Pick<Clock, 'wallMs' | 'monotonicMs'>
  /** Largest difference so far between the wall clock and the monotonic one. */
  #offsetMs = Number.NEGATIVE_INFINITY
  #setAheadMs = 0
  #last = 0n
  #held: HeldClock | null = null

  constructor(clock: Pick<Clock, 'wallMs' | 'monotonicMs'>) {
    this.#clock = clock
  }

  /**
   * Milliseconds ahead of the wall clock: the advance by a control request, plus the amount by which the wall clock was
   * set back.
   */
  get aheadMs(): number {
    const nowMs = this.#machineMs()
    const fellBackMs = nowMs - this.#clock.wallMs()
    return this.#setAheadMs + (fellBackMs < WALL_RESOLUTION_MS ? 0 : Math.round(fellBackMs))
  }

  /** Milliseconds since the UNIX epoch. */
  ms(): number {
    return this.#held === null ? this.#machineMs() + this.#setAheadMs : Number(this.#held.at) / 1000
  }

  /** Null if the clock runs. */
  get held(): HeldClock | null {
    return this.#held
  }

  /** Stops the clock, or sets it going from where it stands. */
  hold(held: HeldClock | null): void {
    if (held === null && this.#held !== null) this.#go(this.#held.at)
    this.#held = held
  }

  /** Notes the creation time of a new block (microseconds). Only a clock that stands still needs it. */
  blockAdded(time: bigint): void {
    if (this.#held === null) return
    const { at, step } = this.#held
    const newest = time > at ? time : at
    if (step === null) this.hold(null)
    else this.#held = { at: newest + step, step }
  }

  /** Microseconds since the UNIX epoch, later than any result before: a block must be later than its parents. */
  microseconds = (): bigint => {
    if (this.#held !== null) return this.#held.at
    const now = BigInt(Math.floor(this.ms() * 1000))
    this.#last = now > this.#last ? now : this.#last + 1n
    return this.#last
  }

  /** Moves the clock forwards for good. */
  advance(byMs: number): void {
    this.#setAheadMs += byMs
  }

  /** Advance by a control request in milliseconds; negative if the clock was set back. */
  get setAheadMs(): number {
    return this.#setAheadMs
  }

  /**
   * Sets the advance by a control request, also backwards.
   * @param newest creation time of the newest block (microseconds); the clock stays later, even if its new time is
   *   earlier
   */
  set(aheadMs: number, newest: bigint): void {
    this.#held = null
    this.#setAheadMs = aheadMs
    this.#last = newest
  }

  /**
   * Moves the clock forwards if it is earlier than this time (microseconds), for example that of the newest block on disk.
   */
  catchUp(microseconds: bigint): void {
    const behindUs = microseconds - BigInt(Math.floor(this.ms() * 1000))
    if (behindUs > 0n) this.advance(Math.ceil(Number(behindUs) / 1000))
  }

  /** Sets the clock going from a time in microseconds. */
  #go(from: bigint): void {
    this.#setAheadMs = Number(from) / 1000 - this.#machineMs()
    this.#last = from
  }

  #machineMs(): number {
    const monotonicMs = this.#clock.monotonicMs()
    this.#offsetMs = Math.max(this.#offsetMs, this.#clock.wallMs() - monotonicMs)
    return monotonicMs + this.#offsetMs
  }
}
