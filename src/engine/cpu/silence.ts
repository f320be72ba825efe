/** Tells search threads that hang: those that should search and count no hash. */

/** How often threads are looked at. */
export const WATCH_MS = 1000

interface Sign {
  hashes: number
  atMs: number
}

export class Silence {
  readonly #patienceMs: number
  /** The last sign of life of each thread that is watched. */
  readonly #signs = new Map<number, Sign>()
  #lookedAtMs = Number.NEGATIVE_INFINITY

  /** `patienceMs`: how long a thread may count no hash. */
  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /**
   * Called every WATCH_MS with the threads that should search, or get ready to, and the hashes of each so far. Returns
   * those that have been silent for too long. A thread that is left out once begins anew.
   */
  look(nowMs: number, hashes: ReadonlyMap<number, number>): number[] {
    // The whole process was suspended or starved, and its threads with it.
    if (nowMs - this.#lookedAtMs > 4 * WATCH_MS) this.#signs.clear()
    this.#lookedAtMs = nowMs
    for (const thread of this.#signs.keys()) if (!hashes.has(thread)) this.#signs.delete(thread)
    const silent: number[] = []
    for (const [thread, count] of hashes) {
      const sign = this.#signs.get(thread)
      if (sign?.hashes !== count) this.#signs.set(thread, { hashes: count, atMs: nowMs })
      else if (nowMs - sign.atMs > this.#patienceMs) silent.push(thread)
    }
    // Whoever comes in their place begins anew.
    for (const thread of silent) this.#signs.delete(thread)
    return silent
  }
}
