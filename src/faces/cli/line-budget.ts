/** A rate limit for lines: the burst, and the lines per second after it. */
export interface LineLimits {
  readonly burst: number
  readonly perSecond: number
}

/** A token bucket for lines. */
export class LineBudget {
  readonly #limits: LineLimits
  readonly #nowMs: () => number
  #left: number
  #at: number

  constructor(limits: LineLimits, nowMs: () => number) {
    this.#limits = limits
    this.#nowMs = nowMs
    this.#left = limits.burst
    this.#at = nowMs()
  }

  get isEmpty(): boolean {
    return this.#left < 1
  }

  /** Whether one more line may be shown. */
  take(): boolean {
    const { burst, perSecond } = this.#limits
    const at = this.#nowMs()
    this.#left = Math.min(burst, this.#left + ((at - this.#at) * perSecond) / 1000)
    this.#at = at
    if (this.isEmpty) return false
    this.#left--
    return true
  }
}
