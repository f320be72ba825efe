/** Which nonces the next batch tries, and how many. */
import type { FixedNonce } from '../../core/nonce.ts'
import { HIGHS, lowWith, MIDDLES, type NonceRange, nextLow } from '../range.ts'
import { type Batch, MAX_BATCH_NONCES, MAX_RESULT_NONCES } from './layout.ts'

/** Walks through a nonce range in the order of a GPU (range.ts). */
export class NonceCursor {
  readonly #range: NonceRange
  #low: number
  #high: number
  /** Middles done under this `high`, and highs under this `low`. */
  #middlesDone = 0
  #highsDone = 0

  constructor(range: NonceRange) {
    this.#range = range
    this.#low = range.low
    this.#high = range.high
  }

  /** The largest batch of this range. */
  get maxNonces(): number {
    return this.#range.count
  }

  /** The next nonces, `wanted` or fewer: a batch ends where its middles are no longer in a row. */
  next(wanted: number, fixedNonce: FixedNonce): Batch {
    const { first, count: middles, start } = this.#range
    const at = (start + this.#middlesDone) % middles
    const count = Math.min(wanted, middles - this.#middlesDone, middles - at)
    const batch = { low: lowWith(this.#low, fixedNonce), first: first + at, high: this.#high, count }
    this.#middlesDone = (this.#middlesDone + count) % middles
    if (this.#middlesDone > 0) return batch
    this.#high = (this.#high + 1) % HIGHS
    this.#highsDone = (this.#highsDone + 1) % HIGHS
    if (this.#highsDone === 0) this.#low = nextLow(this.#low, fixedNonce)
    return batch
  }
}

/** The two halves of a batch that found more than fits into a result. */
export function halves(batch: Batch): [Batch, Batch] {
  const half = batch.count >>> 1
  return [
    { ...batch, count: half },
    { ...batch, first: (batch.first + half) % MIDDLES, count: batch.count - half },
  ]
}

/** The largest batch whose expected candidates fill half a result. If they do not fit, it is searched twice. */
export function maxNoncesFor(bound: number): number {
  return Math.max(1, Math.min(MAX_BATCH_NONCES, Math.floor((MAX_RESULT_NONCES / 2) * (2 ** 32 / (bound + 1)))))
}

/** How many nonces a batch takes so that its service time is `targetMs`. */
export class BatchSize {
  readonly #targetMs: number
  /** Batches are multiples of it: nonces that a workgroup tries. */
  readonly #unit: number
  #nonces: number

  constructor(targetMs: number, unit: number, nonces: number) {
    this.#targetMs = targetMs
    this.#unit = unit
    this.#nonces = nonces
  }

  get nonces(): number {
    const units = Math.max(1, Math.floor(this.#nonces / this.#unit))
    return Math.min(MAX_BATCH_NONCES, units * this.#unit)
  }

  /**
   * Adjusts the size to the time that a batch of `nonces` took. A single measurement changes it by a factor of two at
   * most.
   */
  learn(serviceMs: number, nonces = this.nonces): void {
    const factor = Math.min(2, Math.max(0.5, this.#targetMs / Math.max(serviceMs, 0.01)))
    this.#nonces = Math.min(MAX_BATCH_NONCES, Math.max(1, nonces * factor))
  }
}
