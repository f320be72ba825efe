/** Hashes a second over the last seconds. */

/** Long enough to be steady, short enough to show a change soon. */
const WINDOW_MS = 5000
/** A rate over less says little. */
const LEAST_MS = 800

interface Sample {
  readonly atMs: number
  readonly hashes: number
}

export class RateMeter {
  #samples: Sample[] = []

  /** Records the count of hashes so far. Times must not decrease. */
  sample(atMs: number, hashes: number): void {
    this.#samples.push({ atMs, hashes })
    // One sample as old as the window stays: the rate is measured from it.
    while (this.#samples.length > 2 && this.#samples[1].atMs <= atMs - WINDOW_MS) this.#samples.shift()
  }

  /** null before there is a time to measure. */
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
