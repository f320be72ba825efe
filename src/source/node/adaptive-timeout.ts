/**
 * How long an answer of a node is waited for, by what is asked. Where none comes, the node may be away, or only slow: the
 * next question of the kind is given twice the time. A node that answers, however slowly, has its work searched.
 */

/** Of a node that answers sooner, or of which nothing is known. */
const LEAST_MS = 5_000
/** A request is given up after 10 s (node/http.ts); what is asked in several may take longer. */
const MOST_MS = 20_000

export class Patience {
  readonly #ms = new Map<string, number>()

  /** For a question of this kind. */
  of(what: string): number {
    return this.#ms.get(what) ?? LEAST_MS
  }

  /** A question of this kind was answered after this time. */
  answered(what: string, tookMs: number): void {
    this.#set(what, 2 * tookMs)
  }

  /** A question of this kind had no answer in time. */
  missed(what: string): void {
    this.#set(what, 2 * this.of(what))
  }

  #set(what: string, ms: number): void {
    this.#ms.set(what, Math.min(MOST_MS, Math.max(LEAST_MS, ms)))
  }
}
