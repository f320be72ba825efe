/**
 * The lease of a rig, renewed by its reports. It starts when the report is sent, not when the answer arrives. So it
 * ends for the rig before it ends for the leader.
 */
import { type Clock, notBefore } from '#ground/base/clock.ts'
import type { FixedNonce } from '#ground/chain/nonce.ts'
import { LEASE_BITS, LEASE_MS } from '../../fleet/messages.ts'

export class Lease {
  readonly #clock: Clock
  readonly #onEnd: () => void
  #value: number | null = null
  #untilMs = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => undefined

  /** @param onEnd called when the lease was not renewed in time */
  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock
    this.#onEnd = onEnd
  }

  /** The value to request again, or null if it never had one. */
  get value(): number | null {
    return this.#value
  }

  /** The fixed nonce bits of the lease, or null while the rig may search nothing. */
  get fixedNonce(): FixedNonce | null {
    const isHeld = this.#value !== null && this.#clock.monotonicMs() < this.#untilMs
    return isHeld ? { bits: LEASE_BITS, value: this.#value ?? 0 } : null
  }

  /**
   * Applies the answer to a report.
   * @param sentAtMs monotonic time of the report
   * @returns true if the nonces to search have changed
   */
  renew(value: number | null, sentAtMs: number): boolean {
    const before = this.fixedNonce?.value ?? null
    this.#value = value
    this.#untilMs = value === null ? Number.NEGATIVE_INFINITY : sentAtMs + LEASE_MS
    this.#cancel()
    if (value !== null) {
      this.#cancel = notBefore(this.#clock, this.#untilMs, this.#onEnd)
    }
    return before !== value
  }

  stop(): void {
    this.#cancel()
  }
}
