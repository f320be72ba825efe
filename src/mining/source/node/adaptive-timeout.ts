/**
 * Adaptive timeouts for a node, by kind of question. A node that does not answer may only be slow, so each timeout
 * doubles the next one. The miner keeps using slow nodes.
 */

/** Timeout of a fast node, and of an unknown one. */
const MIN_TIMEOUT_MS = 5_000
/** A single request times out after 10 s (node/http.ts); a question of several requests may take longer. */
const MAX_TIMEOUT_MS = 20_000

export class AdaptiveTimeout {
  readonly #ms = new Map<string, number>()

  /** The current timeout for this kind of question. */
  timeoutMs(what: string): number {
    return this.#ms.get(what) ?? MIN_TIMEOUT_MS
  }

  /** Adapts to an answer. */
  recordAnswer(what: string, tookMs: number): void {
    this.#set(what, 2 * tookMs)
  }

  /** Adapts to a timeout. */
  recordTimeout(what: string): void {
    this.#set(what, 2 * this.timeoutMs(what))
  }

  #set(what: string, ms: number): void {
    this.#ms.set(what, Math.min(MAX_TIMEOUT_MS, Math.max(MIN_TIMEOUT_MS, ms)))
  }
}
