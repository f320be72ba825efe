/**
 * The clock of an embedded node. It follows the machine's wall clock forwards, and goes back by order only: block times
 * only rise. When the wall clock is set back, it goes on at the pace of the machine's monotonic clock, ahead of the wall
 * clock by as much. If it waited for the wall clock instead, blocks would follow each other by a microsecond each, and
 * difficulty adjustment would take that for enormous hash power.
 */
import type { Clock } from '../../core/clock.ts'

/** The wall clock counts whole milliseconds: a smaller difference says nothing. */
const WALL_STEP_MS = 2

export class NodeClock {
  readonly #clock: Pick<Clock, 'wallMs' | 'monotonicMs'>
  /** Largest difference there was between the wall clock and the monotonic one. */
  #offsetMs = Number.NEGATIVE_INFINITY
  #setAheadMs = 0
  #last = 0n

  constructor(clock: Pick<Clock, 'wallMs' | 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Milliseconds ahead of the wall clock: how far it was set ahead, plus how far the wall clock was set back. */
  get aheadMs(): number {
    const nowMs = this.#machineMs()
    const fellBackMs = nowMs - this.#clock.wallMs()
    return this.#setAheadMs + (fellBackMs < WALL_STEP_MS ? 0 : Math.round(fellBackMs))
  }

  /** Milliseconds since the UNIX epoch. */
  ms(): number {
    return this.#machineMs() + this.#setAheadMs
  }

  /** Microseconds since the UNIX epoch, later than any before: a block must be later than its parents. */
  microseconds = (): bigint => {
    const now = BigInt(Math.floor(this.ms() * 1000))
    this.#last = now > this.#last ? now : this.#last + 1n
    return this.#last
  }

  /** Sets the clock ahead for good. */
  advance(byMs: number): void {
    this.#setAheadMs += byMs
  }

  /** How far it was set ahead; below zero where it was set back. */
  get setAheadMs(): number {
    return this.#setAheadMs
  }

  /**
   * Sets how far it is ahead, back as well. `newest`: creation time of the newest block (microseconds); the clock goes
   * on after it, even where the time that it is set to is earlier.
   */
  set(aheadMs: number, newest: bigint): void {
    this.#setAheadMs = aheadMs
    this.#last = newest
  }

  /** Sets the clock ahead if it is behind this time (microseconds), for example that of the newest block on disk. */
  catchUp(microseconds: bigint): void {
    const behindUs = microseconds - BigInt(Math.floor(this.ms() * 1000))
    if (behindUs > 0n) this.advance(Math.ceil(Number(behindUs) / 1000))
  }

  #machineMs(): number {
    const monotonicMs = this.#clock.monotonicMs()
    this.#offsetMs = Math.max(this.#offsetMs, this.#clock.wallMs() - monotonicMs)
    return monotonicMs + this.#offsetMs
  }
}
