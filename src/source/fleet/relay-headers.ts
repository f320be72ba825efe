/**
 * The headers of a relay, from its reports: the creation times of one residue, which its stratum rigs may search with all
 * nonces. They outlive the lease of its own devices, so that rigs go on while nobody leads.
 */
import { type Clock, notBefore } from '../../core/clock.ts'
import type { HeaderClass } from '../../core/nonce.ts'
import { HEADER_MODULUS, RELAY_ALONE_MS } from '../../fleet/messages.ts'

export class RelayHeaders {
  readonly #clock: Clock
  readonly #onEnd: () => void
  #residue: number | null = null
  #untilMs = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => undefined

  /** `onEnd`: no leader has answered for RELAY_ALONE_MS. */
  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock
    this.#onEnd = onEnd
  }

  /** The residue to ask for again; null: it never had one. */
  get residue(): number | null {
    return this.#residue
  }

  /** What rigs may search; null: nothing. */
  get value(): HeaderClass | null {
    if (this.#residue === null || this.#clock.monotonicMs() >= this.#untilMs) return null
    return { residue: this.#residue, modulus: HEADER_MODULUS }
  }

  /** An answer to a report that was sent at this time. True: rigs get other headers than before, or some at last. */
  renew(residue: number | null, sentAtMs: number): boolean {
    const before = this.value?.residue ?? null
    this.#residue = residue
    this.#untilMs = residue === null ? Number.NEGATIVE_INFINITY : sentAtMs + RELAY_ALONE_MS
    this.#cancel()
    if (residue !== null) {
      this.#cancel = notBefore(this.#clock, this.#untilMs, this.#onEnd)
    }
    return before !== residue
  }

  stop(): void {
    this.#cancel()
  }
}
