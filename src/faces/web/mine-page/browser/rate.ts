/** Measures the hashrate over the last seconds. */

/** Window of the measurement: long enough to be steady, short enough to follow changes. */
const WINDOW_MS = 5000
/** Minimum time span of a meaningful measurement. */
const LEAST_MS = 800

interface Sample {
  readonly atMs: number
  readonly hashes: number
}

export class RateMeter {
  #samples: Sample[] = []

  /** Records the total of hashes. Times must not decrease. */
  sample(atMs: number, hashes: number): void {
    this.#samples.push({ atMs, hashes })
    // Keep one sample at the window's start as the reference.
    while (this.#samples.length > 2 && this.#samples[1].atMs <= atMs - WINDOW_MS) this.#samples.shift()
  }

  /** @returns the hashrate in H/s, or null before there is a time span */
  rate(): number | null {
    const [first] = this.#samples
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < LEAST_MS) return null
    return ((last.hashes - first.hashes) * 1000) / (last.atMs - first.atMs)
  }

  reset(): void {
    this.#samples = []
  }
}
