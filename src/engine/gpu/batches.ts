/** Which nonces the next batch tries, and how many. */
import { type FixedNonce, FREE_NONCE } from '../../core/nonce.ts'
import { freeLows, freeMiddles, HIGHS, LOWS, lowWith, MIDDLES, middleAt, type NonceRange, nextLow } from '../range.ts'
import { type Batch, MAX_BATCH_NONCES, MAX_RESULT_NONCES, MAX_TRIPS } from './layout.ts'

/** Walks through a nonce range in the order of a GPU (range.ts). */
export class NonceCursor {
  readonly #range: NonceRange
  readonly #trips: number
  #low: number
  #high: number
  /** Middles done under this `high`, highs under these lows, and lows. */
  #middlesDone = 0
  #highsDone = 0
  #lowsDone = 0
  #fixed: FixedNonce = FREE_NONCE
  /** Nonces of the present header that were tried. */
  #tried = 0

  /** `trips`: low words that a lane tries in a batch. Throws RangeError for more than MAX_TRIPS. */
  constructor(range: NonceRange, trips: number) {
    if (!(trips >= 1 && trips <= MAX_TRIPS)) throw new RangeError(`${trips} trips: a lane makes 1 to ${MAX_TRIPS}`)
    this.#range = range
    this.#trips = trips
    this.#low = range.low
    this.#high = range.high
  }

  /** The largest batch of this range. */
  get maxNonces(): number {
    return this.#range.count * this.#trips
  }

  /** There is another header, none of whose nonces was tried. */
  restart(): void {
    this.#tried = 0
  }

  /** Whether all nonces of this header were tried. */
  isExhausted(fixed: FixedNonce): boolean {
    return this.#isAsBefore(fixed) && this.#tried >= freeMiddles(this.#range, fixed).count * HIGHS * freeLows(fixed)
  }

  /**
   * The next nonces: `wanted`, at least as many as a lane has trips, or fewer. A batch ends where its middles are no
   * longer in a row, and has fewer trips where fewer lows are left.
   */
  next(wanted: number, fixedNonce: FixedNonce): Batch {
    const lows = freeLows(fixedNonce)
    const free = freeMiddles(this.#range, fixedNonce)
    const { count: middles, start, stride } = free
    if (!this.#isAsBefore(fixedNonce)) {
      if (fixedNonce.bits !== this.#fixed.bits) this.#lowsDone = 0
      this.#fixed = fixedNonce
      this.#middlesDone %= middles
      this.#tried = 0
    }
    const trips = Math.min(this.#trips, lows - this.#lowsDone)
    const at = (start + this.#middlesDone) % middles
    const lanes = Math.min(Math.floor(wanted / trips), middles - this.#middlesDone, middles - at)
    const nonces = { low: lowWith(this.#low, fixedNonce), first: middleAt(free, at), high: this.#high }
    const batch = { ...nonces, lanes, trips, step: LOWS / lows, ...(stride > 1 && { stride }) }
    this.#tried += lanes * trips
    this.#middlesDone = (this.#middlesDone + lanes) % middles
    if (this.#middlesDone > 0) return batch
    this.#high = (this.#high + 1) % HIGHS
    this.#highsDone = (this.#highsDone + 1) % HIGHS
    if (this.#highsDone > 0) return batch
    this.#low = nextLow(this.#low, fixedNonce, trips)
    this.#lowsDone = (this.#lowsDone + trips) % lows
    return batch
  }

  #isAsBefore({ bits, value }: FixedNonce): boolean {
    return this.#fixed.bits === bits && this.#fixed.value === value
  }
}

/** The two halves of a batch that found more than fits into a result, and so has many lanes. */
export function halves(batch: Batch): [Batch, Batch] {
  const half = batch.lanes >>> 1
  return [
    { ...batch, lanes: half },
    { ...batch, first: (batch.first + half * (batch.stride ?? 1)) % MIDDLES, lanes: batch.lanes - half },
  ]
}

/** The largest batch whose expected candidates fill half a result. If they do not fit, it is searched twice. */
export function maxNoncesFor(bound: number): number {
  return Math.max(1, Math.min(MAX_BATCH_NONCES, Math.floor((MAX_RESULT_NONCES / 2) * (2 ** 32 / (bound + 1)))))
}

/**
 * A batch is searched for at least so many candidates: their nonces prove that the device did the work. A driver that
 * completes without running, or a card that computes wrongly, has a hash rate only without that.
 */
export const PROOF_CANDIDATES = 48
/** A device that works finds fewer than this of 48 expected once in 10^12 batches (Poisson distribution). */
const MIN_PROOF = 9

/** The bound under which a batch of so many nonces is expected to have `candidates`. */
export function provingBound(nonces: number, candidates: number): number {
  return Math.max(0, Math.min(2 ** 32, Math.ceil((candidates * 2 ** 32) / nonces)) - 1)
}

/**
 * Throws when far fewer nonces were proven right than a batch of so many has under this bound. Batches that may have
 * fewer candidates than the proof takes prove nothing.
 */
export function checkProof(nonces: number, bound: number, proven: number): void {
  const expected = (nonces * (bound + 1)) / 2 ** 32
  if (expected < PROOF_CANDIDATES || proven >= MIN_PROOF) return
  throw new Error(`it did not search, or hashes wrongly: ${proven} right of about ${Math.round(expected)} candidates`)
}

/** How many nonces a batch takes so that its service time is `targetMs`. */
export class BatchSize {
  readonly #targetMs: number
  /** Batches are multiples of it: nonces that a workgroup tries in all its trips. */
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
