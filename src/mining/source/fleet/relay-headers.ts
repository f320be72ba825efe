/**
 * The headers of a relay: the creation times of one residue, which its stratum rigs search with all nonces. Reports
 * renew them. They outlast the lease of its own devices, so rigs keep mining while the fleet has no leader.
 */
import { type Clock, notBefore } from '#ground/base/clock.ts'
import type { HeaderClass } from '#ground/chain/nonce.ts'
import { HEADER_MODULUS, RELAY_ALONE_MS } from '../../fleet/messages.ts'

export class RelayHeaders {
  readonly #clock: Clock
  readonly #onEnd: () => void
  #residue: number | null = null
  #untilMs = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => undefined

  /** @param onEnd called when no leader has answered for RELAY_ALONE_MS */
  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock
    this.#onEnd = onEnd
  }

  /** The residue to request again, or null if it never had one. */
  get residue(): number | null {
    return this.#residue
  }

  /** The headers that rigs may search, or null. */
  get value(): HeaderClass | null {
    if (this.#residue === null || this.#clock.monotonicMs() >= this.#untilMs) return null
    return { residue: this.#residue, modulus: HEADER_MODULUS }
  }

  /**
   * Applies the answer to a report.
   * @param sentAtMs monotonic time of the report
   * @returns true if the headers of rigs have changed
   */
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
