/** Decides from the load of other programs whether the machine is idle enough to search. */

/** Over this time other programs have to use more than the limit, on average, before it is a pause. */
export const BUSY_MS = 6_000
/** Over this time they have to use less than half the limit, on average, before it goes on. */
export const QUIET_MS = 30_000
/** After a gap of this length, such as a sleep of the machine, what was before does not count. */
const GAP_MS = 15_000

interface LoadSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly share: number
}

export class LoadGate {
  readonly #limit: number
  #looks: LoadSpan[] = []
  #busySinceMs: number | null = null
  /** Since when it has been looked at without a gap. */
  #firstMs: number | null = null

  /** `limit`: share of the machine, 0 to 1, that other programs may use. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether to search nothing for now. */
  get isBusy(): boolean {
    return this.#busySinceMs !== null
  }

  /** What other programs used within the last seconds, as a share of the machine. */
  get share(): number {
    return this.#mean(BUSY_MS)
  }

  /** Other programs used that share of the machine between these two monotonic times. */
  look(fromMs: number, toMs: number, share: number): void {
    const isGap = toMs - fromMs > GAP_MS || fromMs - (this.#looks.at(-1)?.toMs ?? fromMs) > GAP_MS
    if (isGap) this.#looks = []
    if (isGap || this.#firstMs === null) this.#firstMs = toMs - fromMs > GAP_MS ? toMs : fromMs
    if (toMs - fromMs > GAP_MS) return
    this.#looks.push({ fromMs, toMs, share })
    while (this.#looks[0].toMs <= toMs - QUIET_MS) this.#looks.shift()
    const isLong = (spanMs: number, sinceMs: number) => toMs - sinceMs >= spanMs
    if (this.#busySinceMs === null) {
      if (isLong(BUSY_MS, this.#firstMs) && this.#mean(BUSY_MS) > this.#limit) this.#busySinceMs = toMs
    } else if (isLong(QUIET_MS, Math.max(this.#busySinceMs, this.#firstMs))) {
      if (this.#mean(QUIET_MS) < this.#limit / 2) this.#busySinceMs = null
    }
  }

  #mean(spanMs: number): number {
    const toMs = this.#looks.at(-1)?.toMs ?? 0
    let [time, sum] = [0, 0]
    for (const look of this.#looks) {
      const length = look.toMs - Math.max(look.fromMs, toMs - spanMs)
      if (length <= 0) continue
      time += length
      sum += length * look.share
    }
    return time === 0 ? 0 : sum / time
  }
}
