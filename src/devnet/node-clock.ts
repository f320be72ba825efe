/** The clock of an embedded node: the machine's, which can be set ahead, and which never gives one time twice. */

/** Largest difference between the two clocks that comes from Date.now() counting whole milliseconds. */
const CLOCK_STEP_MS = 2

export class NodeClock {
  #aheadMs = 0
  #last = 0n

  /** How far it is ahead of the machine's, milliseconds. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  /** Milliseconds since the UNIX epoch. */
  ms(): number {
    return Date.now() + this.#aheadMs
  }

  /** Microseconds since the UNIX epoch, later than any before: a block must be later than its parents. */
  microseconds = (): bigint => {
    const fineMs = performance.timeOrigin + performance.now()
    const wallMs = Date.now()
    // The fine clock does not follow when the wall clock is set.
    const ms = (Math.abs(fineMs - wallMs) < CLOCK_STEP_MS ? fineMs : wallMs) + this.#aheadMs
    const now = BigInt(Math.floor(ms * 1000))
    this.#last = now > this.#last ? now : this.#last + 1n
    return this.#last
  }

  /** Sets the clock ahead for good. */
  advance(byMs: number): void {
    this.#aheadMs += byMs
  }

  /** Sets the clock ahead if it is behind this time (microseconds), as that of a block that is there already. */
  catchUp(microseconds: bigint): void {
    const behindUs = microseconds - BigInt(Math.floor(this.ms() * 1000))
    if (behindUs > 0n) this.advance(Math.ceil(Number(behindUs) / 1000))
  }
}
