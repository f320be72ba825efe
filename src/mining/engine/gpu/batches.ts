/** Chooses the nonces and the size of the next batch. */
import { type FixedNonce, FREE_NONCE } from '#ground/chain/nonce.ts'
import { freeLows, freeMiddles, HIGHS, LOWS, lowWith, MIDDLES, middleAt, type NonceRange, nextLow } from '../range.ts'
import { type Batch, MAX_BATCH_NONCES, MAX_RESULT_NONCES, MAX_TRIPS } from './layout.ts'

/** Walks through a nonce range in the order of a GPU (range.ts). */
export class NonceCursor {
  readonly #range: NonceRange
  readonly #trips: number
  #low: number
  #high: number
  /** Completed middles of this `high`, highs of these lows, and lows. */
  #middlesDone = 0
  #highsDone = 0
  #lowsDone = 0
  #fixed: FixedNonce = FREE_NONCE
  /** Tried nonces of the current header. */
  #tried = 0

  /**
   * @param trips low words that a lane tries in a batch
   * @throws RangeError for more than MAX_TRIPS
   */
  constructor(range: NonceRange, trips: number) {
    if (!(trips >= 1 && trips <= MAX_TRIPS)) throw new RangeError(`${trips} trips: a lane makes 1 to ${MAX_TRIPS}`)
    this.#range = range
    this.#trips = trips
    this.#low = range.low
    this.#high = range.high
  }

  /** Maximum size of a batch in this range. */
  get maxNonces(): number {
    return this.#range.count * this.#trips
  }

  /** Starts a new header, with no tried nonces. */
  restart(): void {
    this.#tried = 0
  }

  /** Whether all nonces of this header have been tried. */
  isExhausted(fixed: FixedNonce): boolean {
    return this.#isAsBefore(fixed) && this.#tried >= freeMiddles(this.#range, fixed).count * HIGHS * freeLows(fixed)
  }

  /**
   * Takes the next nonces. The batch is smaller than `wanted` where its middles are not contiguous, and has fewer trips
   * if fewer lows remain.
   * @param wanted number of nonces, at least the trips of a lane
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

/** Splits a batch whose candidates do not fit into a result. Such a batch has many lanes. */
export function splitBatch(batch: Batch): [Batch, Batch] {
  const half = batch.lanes >>> 1
  return [
    { ...batch, lanes: half },
    { ...batch, first: (batch.first + half * (batch.stride ?? 1)) % MIDDLES, lanes: batch.lanes - half },
  ]
}

/**
 * Size of a batch whose expected candidates fill half a result. If they do not fit, the batch is searched again in
 * halves.
 */
export function maxNoncesFor(bound: number): number {
  return Math.max(1, Math.min(MAX_BATCH_NONCES, Math.floor((MAX_RESULT_NONCES / 2) * (2 ** 32 / (bound + 1)))))
}

/**
 * Minimum number of expected candidates per batch: their nonces prove that the device did the work. Without this proof,
 * a driver that does not run the shader, or a card that computes wrongly, would show a hashrate.
 */
export const PROOF_CANDIDATES = 48
/** A working device finds fewer than this of 48 expected candidates once in 10^12 batches (Poisson distribution). */
const MIN_PROOF = 9

/** The bound at which a batch of this size has the given expected number of candidates. */
export function provingBound(nonces: number, candidates: number): number {
  return Math.max(0, Math.min(2 ** 32, Math.ceil((candidates * 2 ** 32) / nonces)) - 1)
}

/**
 * Checks the number of correct nonces of a batch. Batches with fewer expected candidates than PROOF_CANDIDATES prove
 * nothing.
 * @param proven correct nonces
 * @throws Error if they are far fewer than expected
 */
export function checkProof(nonces: number, bound: number, proven: number): void {
  const expected = (nonces * (bound + 1)) / 2 ** 32
  if (expected < PROOF_CANDIDATES || proven >= MIN_PROOF) return
  throw new Error(`it did not search, or hashes wrongly: ${proven} right of about ${Math.round(expected)} candidates`)
}

/** Adapts the size of batches to a target service time. */
export class BatchSize {
  readonly #targetMs: number
  /** Batches are multiples of this number of nonces, which a workgroup tries in all its trips. */
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

  /** Adjusts the size to the service time of a batch. One measurement changes it at most by a factor of two. */
  learn(serviceMs: number, nonces = this.nonces): void {
    const factor = Math.min(2, Math.max(0.5, this.#targetMs / Math.max(serviceMs, 0.01)))
    this.#nonces = Math.min(MAX_BATCH_NONCES, Math.max(1, nonces * factor))
  }
}
