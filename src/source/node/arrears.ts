/** How long a node has given no work that was asked for. */
import { isAskedFor, isWorkOwed, type State } from './state.ts'

export class Arrears {
  /** When the first of the requests for current work was made that failed; null: some work came since. */
  #failingSinceMs: number | null = null
  /** Since when the node has owed work, and has given none; null: it does not. */
  #owedSinceMs: number | null = null
  /** When it last gave some. */
  #givenAtMs = 0

  /** 0: requests do not fail, and it owes none. */
  ms(nowMs: number): number {
    const sinceMs = Math.min(this.#failingSinceMs ?? Infinity, this.#owedSinceMs ?? Infinity)
    return Math.max(0, nowMs - sinceMs)
  }

  /** It has given work. */
  given(nowMs: number): void {
    this.#failingSinceMs = null
    this.#owedSinceMs = null
    this.#givenAtMs = nowMs
  }

  /** A request for current work has failed, which was made then. */
  failed(askedAtMs: number): void {
    this.#failingSinceMs ??= askedAtMs
  }

  /** What is wanted of it has changed. `askedAtMs`: when the requests were made that it has not answered. */
  wanted(state: State, nowMs: number, askedAtMs: readonly number[]): void {
    // From the oldest question without an answer, after the last answer in any case.
    const unansweredMs = Math.max(this.#givenAtMs, Math.min(nowMs, ...askedAtMs))
    this.#owedSinceMs = isWorkOwed(state) ? (this.#owedSinceMs ?? unansweredMs) : null
    // Nobody asks any more: what is searched now was never refused.
    if (!isAskedFor(state)) this.#failingSinceMs = null
  }
}
