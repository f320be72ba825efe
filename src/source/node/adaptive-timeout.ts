/**
 * Timeouts for the answers of a node, by question. A node that does not answer may be down, or only slow: the next question
 * of the kind has twice the time. A node that answers slowly is mined for all the same.
 */

/** For a node that answers sooner, or of which nothing is known. */
const LEAST_MS = 5_000
/** A request is given up after 10 s (node/http.ts); a question of several requests may take longer. */
const MOST_MS = 20_000

export class AdaptiveTimeout {
  readonly #ms = new Map<string, number>()

  /** The timeout of a question of this kind. */
  of(what: string): number {
    return this.#ms.get(what) ?? LEAST_MS
  }

  /** A question of this kind was answered after this time. */
  answered(what: string, tookMs: number): void {
    this.#set(what, 2 * tookMs)
  }

  /** A question of this kind timed out. */
  missed(what: string): void {
    this.#set(what, 2 * this.of(what))
  }

  #set(what: string, ms: number): void {
    this.#ms.set(what, Math.min(MOST_MS, Math.max(LEAST_MS, ms)))
  }
}
