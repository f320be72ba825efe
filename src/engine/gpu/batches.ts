/** Which nonces the next batch tries, and how many. */
import type { NonceRange } from '../range.ts'
import { type Batch, CAPACITY, MOST_BATCH_NONCES } from './layout.ts'

const MIDDLES = 2 ** 32
const HIGHS = 2 ** 16

/** Walks through a nonce range: all of `middle` from a random start, then the next `high`, then the next `low`. */
export class NonceCursor {
  readonly #range: NonceRange
  #low: number
  #high = 0
  /** Middles done under this `high`. */
  #done = 0

  constructor(range: NonceRange) {
    this.#range = range
    this.#low = range.low
  }

  /** The next nonces, `count` or fewer. */
  next(count: number): Batch {
    const batch = {
      low: this.#low,
      first: (this.#range.middle + this.#done) % MIDDLES,
      high: this.#high,
      count: Math.min(count, MIDDLES - this.#done),
    }
    this.#done = (this.#done + batch.count) % MIDDLES
    if (this.#done === 0) this.#high = (this.#high + 1) % HIGHS
    if (this.#done === 0 && this.#high === 0) this.#low = (this.#low + this.#range.lowStep) % 0x10000
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

/** Most nonces so that the candidates expected of a batch fill half a result; more would be found twice. */
export function mostNoncesFor(bound: number): number {
  return Math.max(1, Math.min(MOST_BATCH_NONCES, Math.floor((CAPACITY / 2) * (2 ** 32 / (bound + 1)))))
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
    return Math.min(MOST_BATCH_NONCES, units * this.#unit)
  }

  /** Takes in how long a batch of the present size took. A single figure moves the size by a factor of two at most. */
  learn(serviceMs: number): void {
    const factor = Math.min(2, Math.max(0.5, this.#targetMs / Math.max(serviceMs, 0.01)))
    this.#nonces = Math.min(MOST_BATCH_NONCES, Math.max(1, this.nonces * factor))
  }
}
