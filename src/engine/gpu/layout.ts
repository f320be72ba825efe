/** The two buffers of shaders/search.wgsl, which documents them, and the check of what comes back. */
import { finish, IV, type Midstate, midstate, mix, mixFirst } from '../../core/blake2s.ts'
import { type FixedNonce, FREE_NONCE } from '../../core/nonce.ts'
import { meetsWords } from '../../core/pow.ts'
import { LOWS, MIDDLES, nonceOf } from '../range.ts'

/** The shader is written for the last block of work of degree 3: 30 bytes of it, the nonce in words 5 to 7. */
export const SEARCHED_WORK_BYTES = 286

/** Nonces that fit into a result. */
export const MAX_RESULT_NONCES = 1024
export const PARAMS_BYTES = 128
export const RESULT_BYTES = 8 + 8 * MAX_RESULT_NONCES
/** So that lanes can be numbered in 32 bits, the surplus ones of the last row of workgroups included. */
export const MAX_BATCH_NONCES = 2 ** 30
/** A batch may be as small as maxNoncesFor says for the easiest target: half a result. */
export const MAX_TRIPS = MAX_RESULT_NONCES / 2

/** The low word of the nonce is the high half of word 5. */
const LOW_WORD = 5
const LOW_SHIFT = 16

/**
 * Nonces to try in one dispatch. Lane l tries `low + t * step || first + l * stride || high` for each trip t, where the
 * low word wraps around at 2^16 and the middle one at 2^32.
 */
export interface Batch {
  readonly low: number
  readonly first: number
  readonly high: number
  readonly lanes: number
  readonly trips: number
  /** Between the low words of two trips: 1, unless somebody else has fixed their low bits. */
  readonly step: number
  /** Between the middle words of two lanes; default: 1, since somebody else has rarely fixed their low bits. */
  readonly stride?: number
}

/** Work made ready for the shader. */
export interface PreparedWork {
  readonly mid: Midstate
  readonly target: bigint
  /** Top word of the target. */
  readonly bound: number
  readonly fixedNonce: FixedNonce
}

export interface BatchResult {
  /** How many candidates the shader found; more than MAX_RESULT_NONCES: `nonces` is incomplete. */
  readonly found: number
  readonly nonces: readonly bigint[]
}

/** Throws RangeError for work that the shader cannot search. */
export function prepareWork(bytes: Uint8Array, target: bigint, fixedNonce: FixedNonce = FREE_NONCE): PreparedWork {
  if (bytes.length !== SEARCHED_WORK_BYTES) throw new RangeError(`the GPU cannot search work of ${bytes.length} bytes`)
  return { mid: midstate(bytes), target, bound: Number(target >> 224n), fixedNonce }
}

/** How many nonces a batch tries. */
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

/** null when the result carries another tag than `tag`: the dispatch did not run, and the bytes mean nothing. */
export function decodeResult(words: Uint32Array, tag: number): BatchResult | null {
  if (words[0] !== tag) return null
  const found = words[1]
  const nonces = Array.from({ length: Math.min(found, MAX_RESULT_NONCES) }, (_, i) => {
    return BigInt(words[2 + 2 * i]) | (BigInt(words[3 + 2 * i]) << 32n)
  })
  return { found, nonces }
}

/**
 * What a nonce from the shader is: a `solution`; `near`, when its top word is within the bound, which is all that the
 * shader checks, but its hash misses the target; or `false`, which the shader should never have returned.
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
 * The state v0..v15 (RFC 7693 section 3.2) in which round 1 has mixed what words 5 to 7 do not reach: columns 0 and 1,
 * and the first half of column 2.
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
