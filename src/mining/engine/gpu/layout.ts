/** The two buffers of shaders/search.wgsl, which documents them, and the check of results. */
import { finish, IV, type Midstate, midstate, mix, mixFirst } from '#ground/chain/blake2s.ts'
import { type FixedNonce, FREE_NONCE } from '#ground/chain/nonce.ts'
import { meetsWords } from '#ground/chain/pow.ts'
import { LOWS, MIDDLES, nonceOf } from '../range.ts'

/** The shader supports only work of degree 3: its last block has 30 bytes, with the nonce in words 5 to 7. */
export const SEARCHED_WORK_BYTES = 286

/** Maximum number of nonces in a result: the size of the buffer in shaders/search.wgsl. */
export const MAX_RESULT_NONCES = 1024
export const PARAMS_BYTES = 128
export const RESULT_BYTES = 8 + 8 * MAX_RESULT_NONCES
/** Lane numbers, including surplus lanes in the last row of workgroups, must fit into 32 bits. */
export const MAX_BATCH_NONCES = 2 ** 30
/** A batch may be as small as maxNoncesFor returns for the easiest target: half a result. */
export const MAX_TRIPS = MAX_RESULT_NONCES / 2

/** The low word of the nonce is the high half of word 5. */
const LOW_WORD = 5
const LOW_SHIFT = 16

/**
 * The nonces of one dispatch. Lane l tries `low + t * step || first + l * stride || high` for each trip t. The low word
 * wraps around at 2^16, the middle one at 2^32.
 */
export interface Batch {
  readonly low: number
  readonly first: number
  readonly high: number
  readonly lanes: number
  readonly trips: number
  /** Step between the low words of two trips: 1, unless their low bits are fixed. */
  readonly step: number
  /** Step between the middle words of two lanes. Default: 1, unless their low bits are fixed, which is rare. */
  readonly stride?: number
}

/** Work prepared for the shader. */
export interface PreparedWork {
  readonly mid: Midstate
  readonly target: bigint
  /** Top word of the target. */
  readonly bound: number
  readonly fixedNonce: FixedNonce
}

export interface BatchResult {
  /** Number of candidates that the shader found. If it exceeds MAX_RESULT_NONCES, `nonces` is incomplete. */
  readonly found: number
  readonly nonces: readonly bigint[]
}

/** @throws RangeError for work that the shader cannot search */
export function prepareWork(bytes: Uint8Array, target: bigint, fixedNonce: FixedNonce = FREE_NONCE): PreparedWork {
  if (bytes.length !== SEARCHED_WORK_BYTES) throw new RangeError(`the GPU cannot search work of ${bytes.length} bytes`)
  return { mid: midstate(bytes), target, bound: Number(target >> 224n), fixedNonce }
}

/** Number of nonces in a batch. */
export function nonceCount({ lanes, trips }: Batch): number {
  return lanes * trips
}

/** The parameters of a batch. */
export function encodeParams({ mid, bound }: PreparedWork, batch: Batch, tag: number): Uint32Array<ArrayBuffer> {
  const tail = tailOf(mid, batch.low, batch.stride ?? 1, batch.high)
  const params = new Uint32Array(PARAMS_BYTES / 4)
  params.set(startRows(mid, tail), 0)
  params.set(tail.subarray(0, 8), 16)
  const step = batch.step << LOW_SHIFT
  params.set([bound, mid.state[7], tag, batch.first, batch.lanes, batch.trips, step, 1], 24)
  return params
}

/** @returns null if the tag differs: the dispatch did not run, and the bytes mean nothing */
export function decodeResult(words: Uint32Array, tag: number): BatchResult | null {
  if (words[0] !== tag) return null
  const found = words[1]
  const nonces = Array.from({ length: Math.min(found, MAX_RESULT_NONCES) }, (_, i) => {
    return BigInt(words[2 + 2 * i]) | (BigInt(words[3 + 2 * i]) << 32n)
  })
  return { found, nonces }
}

/**
 * Judges a nonce from the shader, which checks only the top word. `near`: the top word is within the bound, but the
 * hash misses the target. `false`: the shader should not have returned it.
 */
export function judgeNonce({ mid, target, bound }: PreparedWork, nonce: bigint): 'solution' | 'near' | 'false' {
  const word = (shift: bigint) => Number((nonce >> shift) & 0xffffn)
  const hash = finish(mid, tailOf(mid, word(0n), Number((nonce >> 16n) & 0xffffffffn), word(48n)))
  if (hash[7] > bound) return 'false'
  return meetsWords(hash, target) ? 'solution' : 'near'
}

/** All nonces of a batch, trip by trip; for tests and small batches. */
export function noncesOf({ low, first, high, lanes, trips, step, stride = 1 }: Batch): bigint[] {
  return Array.from({ length: lanes * trips }, (_, index) => {
    const [trip, lane] = [Math.floor(index / lanes), index % lanes]
    return nonceOf((low + trip * step) % LOWS, (first + lane * stride) % MIDDLES, high)
  })
}

function tailOf(mid: Midstate, low: number, middle: number, high: number): Uint32Array {
  const tail = Uint32Array.from(mid.tail)
  tail[LOW_WORD] = (tail[LOW_WORD] & 0xffff) | (low << LOW_SHIFT)
  tail[LOW_WORD + 1] = middle
  tail[LOW_WORD + 2] = high
  return tail
}

/**
 * The state v0..v15 (RFC 7693 section 3.2) after the part of round 1 that does not depend on words 5 to 7. That part is
 * columns 0 and 1, and the first half of column 2.
 */
function startRows(mid: Midstate, tail: Uint32Array): Uint32Array {
  const v = Uint32Array.from([...mid.state, ...IV])
  v[12] ^= mid.totalBytes
  v[14] ^= 0xffffffff
  mix(v, 0, tail[0], tail[1])
  mix(v, 1, tail[2], tail[3])
  mixFirst(v, 2, tail[4])
  return v
}
