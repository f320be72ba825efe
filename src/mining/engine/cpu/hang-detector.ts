/** Detects hung search threads: those that should search but count no hash. */

/** Interval between checks. */
export const WATCH_MS = 1000

interface Sign {
  hashes: number
  atMs: number
}

export class HangDetector {
  readonly #limitMs: number
  /** The last sign of life of each watched thread. */
  readonly #signs = new Map<number, Sign>()
  #lookedAtMs = Number.NEGATIVE_INFINITY

  /** @param limitMs maximum time without a counted hash */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /**
   * Checks the threads. Call it every WATCH_MS.
   * @param hashes total hashes of each thread that should search or prepare; an omitted thread starts over
   * @returns threads that have been silent for too long
   */
  look(nowMs: number, hashes: ReadonlyMap<number, number>): number[] {
    // The whole process was suspended or starved.
    if (nowMs - this.#lookedAtMs > 4 * WATCH_MS) this.#signs.clear()
    this.#lookedAtMs = nowMs
    for (const thread of this.#signs.keys()) if (!hashes.has(thread)) this.#signs.delete(thread)
    const silent: number[] = []
    for (const [thread, count] of hashes) {
      const sign = this.#signs.get(thread)
      if (sign?.hashes !== count) this.#signs.set(thread, { hashes: count, atMs: nowMs })
      else if (nowMs - sign.atMs > this.#limitMs) silent.push(thread)
    }
    // Their replacements start over.
    for (const thread of silent) this.#signs.delete(thread)
    return silent
  }
}
