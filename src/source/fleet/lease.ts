/**
 * The lease of a rig, from its reports. It counts from the moment a report was sent, not from its answer: so it is over for
 * the rig before it is over for the leader.
 */
import { type Clock, notBefore } from '../../core/clock.ts'
import type { FixedNonce } from '../../core/nonce.ts'
import { LEASE_BITS, LEASE_MS } from '../../fleet/messages.ts'

export class Lease {
  readonly #clock: Clock
  readonly #onEnd: () => void
  #value: number | null = null
  #untilMs = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => undefined

  /** `onEnd`: it was not renewed in time. */
  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock
    this.#onEnd = onEnd
  }

  /** The value to ask for again; null: it never had one. */
  get value(): number | null {
    return this.#value
  }

  /** The bits that every nonce has to have; null: it may search nothing. */
  get fixedNonce(): FixedNonce | null {
    const isHeld = this.#value !== null && this.#clock.monotonicMs() < this.#untilMs
    return isHeld ? { bits: LEASE_BITS, value: this.#value ?? 0 } : null
  }

  /** An answer to a report that was sent at this time. True: what may be searched is another value than before. */
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
