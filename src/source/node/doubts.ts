/**
 * Signs that a node may have started anew, and forgotten the work that it gave: a connection ended, or it was away. Some
 * nodes give them all the time, being slow or behind a proxy that ends idle connections: those are heeded less and less.
 */
import type { Clock } from '../../core/clock.ts'

/** From one doubt that is heeded to the next: doubled each time, up to the greatest. */
const LEAST_MS = 1_000
const MOST_MS = 60_000
/** After so long without a sign it begins anew. */
const QUIET_MS = 120_000

export class Doubts {
  readonly #clock: Clock
  readonly #onDoubt: () => void
  #everyMs = LEAST_MS
  #raisedAtMs = Number.NEGATIVE_INFINITY
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #cancel: (() => void) | null = null

  constructor(clock: Clock, onDoubt: () => void) {
    this.#clock = clock
    this.#onDoubt = onDoubt
  }

  /** There is a sign. It is heeded at once, or as soon as the time for it has come. */
  raise(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#raisedAtMs >= QUIET_MS) this.#everyMs = LEAST_MS
    this.#raisedAtMs = nowMs
    if (this.#cancel !== null) return
    if (nowMs >= this.#notBeforeMs) this.#heed()
    else this.#cancel = this.#clock.after(this.#notBeforeMs - nowMs, () => this.#heed())
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #heed(): void {
    this.#cancel = null
    this.#notBeforeMs = this.#clock.monotonicMs() + this.#everyMs
    this.#everyMs = Math.min(MOST_MS, 2 * this.#everyMs)
    this.#onDoubt()
  }
}
