/**
 * Adaptive timeouts for a node, by kind of question. A node that does not answer may only be slow, so each timeout
 * doubles the next one. The miner keeps using slow nodes.
 */

/** Timeout of a fast node, and of an unknown one. */
const LEAST_MS = 5_000
/** A single request times out after 10 s (node/http.ts); a question of several requests may take longer. */
const MOST_MS = 20_000

export class AdaptiveTimeout {
  readonly #ms = new Map<string, number>()

  /** The current timeout for this kind of question. */
  of(what: string): number {
    return this.#ms.get(what) ?? LEAST_MS
  }

  /** Adapts to an answer. */
  answered(what: string, tookMs: number): void {
    this.#set(what, 2 * tookMs)
  }

  /** Adapts to a timeout. */
  missed(what: string): void {
    this.#set(what, 2 * this.of(what))
  }

  #set(what: string, ms: number): void {
    this.#ms.set(what, Math.min(MOST_MS, Math.max(LEAST_MS, ms)))
  }
}
