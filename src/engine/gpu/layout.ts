/** The two buffers of shaders/search.wgsl, which documents them, and the check of what comes back. */
import { finish, IV, type Midstate, midstate, mix } from '../../core/blake2s.ts'
import { type FixedNonce, FREE_NONCE } from '../../core/nonce.ts'
import { meetsWords } from '../../core/pow.ts'
import { nonceOf } from '../range.ts'

/** The shader is written for the last block of work of degree 3: 30 bytes of it, the nonce in words 5 to 7. */
export const SEARCHED_WORK_BYTES = 286

/** Nonces that fit into a result. */
export const MAX_RESULT_NONCES = 1024
export const PARAMS_BYTES = 128
export const RESULT_BYTES = 8 + 8 * MAX_RESULT_NONCES
/** Indices are added up in 32 bits, with room for the stride of the lanes. */
export const MAX_BATCH_NONCES = 2 ** 30

const LOW_WORD = 5

/** Nonces to try in one dispatch: `low || first..first+count-1 || high`, the middle modulo 2^32. */
export interface Batch {
  readonly low: number
  readonly first: number
  readonly high: number
  readonly count: number
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

/** The parameters of a batch. */
export function encodeParams({ mid, bound }: PreparedWork, batch: Batch, tag: number): Uint32Array<ArrayBuffer> {
  const tail = tailOf(mid, batch.low, 0, batch.high)
  const params = new Uint32Array(PARAMS_BYTES / 4)
  params.set(startRows(mid, tail), 0)
  params.set(tail.subarray(0, 8), 16)
  params.set([bound, mid.state[7], tag, batch.first, batch.count], 24)
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

/** All nonces of a batch, in order; for tests and small batches. */
export function noncesOf({ low, first, high, count }: Batch): bigint[] {
  return Array.from({ length: count }, (_, index) => nonceOf(low, (first + index) >>> 0, high))
}

function tailOf(mid: Midstate, low: number, middle: number, high: number): Uint32Array {
  const tail = Uint32Array.from(mid.tail)
  tail[LOW_WORD] = (tail[LOW_WORD] & 0xffff) | (low << 16)
  tail[LOW_WORD + 1] = middle
  tail[LOW_WORD + 2] = high
  return tail
}

/** The state v0..v15 (RFC 7693 section 3.2) in which round 1 has mixed columns 0 to 2, which word 6 does not reach. */
function startRows(mid: Midstate, tail: Uint32Array): Uint32Array {
  const v = Uint32Array.from([...mid.state, ...IV])
  v[12] ^= mid.totalBytes
  v[14] ^= 0xffffffff
  for (const column of [0, 1, 2]) mix(v, column, tail[2 * column], tail[2 * column + 1])
  return v
}
