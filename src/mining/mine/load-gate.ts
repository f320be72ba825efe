/** Decides from the load of other programs whether the machine is idle enough to mine. */

/** Averaging window for the start of a pause: other programs must exceed the limit over it. */
const BUSY_MS = 6_000
/** Averaging window for the end of a pause: other programs must stay below half the limit over it. */
const QUIET_MS = 30_000
/** A longer gap between samples, such as system sleep, discards the earlier samples. */
const GAP_MS = 15_000

interface LoadSample {
  readonly fromMs: number
  readonly toMs: number
  readonly fraction: number
}

export class LoadPauser {
  readonly #limit: number
  #samples: LoadSample[] = []
  #busySinceMs: number | null = null
  /** Start of the samples without a gap. */
  #firstMs: number | null = null

  /** @param limit fraction of the machine that other programs may use, 0 to 1 */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether mining should pause. */
  get isBusy(): boolean {
    return this.#busySinceMs !== null
  }

  /** Mean fraction of the machine that other programs used over the last 6 s. */
  get fraction(): number {
    return this.#mean(BUSY_MS)
  }

  /** Adds a sample: the fraction that other programs used between two monotonic times. */
  addSample(fromMs: number, toMs: number, fraction: number): void {
    const isGap = toMs - fromMs > GAP_MS || fromMs - (this.#samples.at(-1)?.toMs ?? fromMs) > GAP_MS
    if (isGap) this.#samples = []
    if (isGap || this.#firstMs === null) this.#firstMs = toMs - fromMs > GAP_MS ? toMs : fromMs
    if (toMs - fromMs > GAP_MS) return
    this.#samples.push({ fromMs, toMs, fraction })
    while (this.#samples[0].toMs <= toMs - QUIET_MS) this.#samples.shift()
    const isLong = (spanMs: number, sinceMs: number) => toMs - sinceMs >= spanMs
    if (this.#busySinceMs === null) {
      if (isLong(BUSY_MS, this.#firstMs) && this.#mean(BUSY_MS) > this.#limit) this.#busySinceMs = toMs
    } else if (isLong(QUIET_MS, Math.max(this.#busySinceMs, this.#firstMs))) {
      if (this.#mean(QUIET_MS) < this.#limit / 2) this.#busySinceMs = null
    }
  }

  #mean(spanMs: number): number {
    const toMs = this.#samples.at(-1)?.toMs ?? 0
    let time = 0
    let sum = 0
    for (const look of this.#samples) {
      const length = look.toMs - Math.max(look.fromMs, toMs - spanMs)
      if (length <= 0) continue
      time += length
      sum += length * look.fraction
    }
    return time === 0 ? 0 : sum / time
  }
}
