/**
 * BLAKE2s-256 in parts (RFC 7693): the midstate after the full 64-byte blocks of a work header, and the compression of
 * the last block.
 *
 * This file never judges a hash; core/pow.ts does, by hashing the whole header with @noble/hashes.
 */

/** RFC 7693 section 2.6: initialisation vector. */
export const IV: readonly number[] = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]

/** RFC 7693 section 2.7: message schedule, ten rounds of sixteen word indices. */
export const SIGMA: readonly (readonly number[])[] = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]

/** RFC 7693 section 3.1: the columns, then the diagonals, mixed by G in each round. */
export const MIX_INDICES: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
]

/** MIX_INDICES as a flat array; destructuring lists of four costs as much as the mixing. */
const INDICES = Uint8Array.from(MIX_INDICES.flat())

/** RFC 7693 section 2.1: right rotations of the words d, b, d, b in G. */
export const ROTATIONS = [16, 12, 8, 7] as const
const [D_FIRST, B_FIRST, D_SECOND, B_SECOND] = ROTATIONS

/** Bytes of one BLAKE2s block. */
const BLOCK_BYTES = 64

/** RFC 7693 section 2.5: h[0] holds digest length 32, no key, fanout and depth 1. */
const PARAMETER_WORD = 0x01010020

const v = new Uint32Array(16)

/**
 * RFC 7693 section 3.2, compression function F: mixes the sixteen message words `m` into the eight state words `h`, in
 * place.
 * @param byteCount number of message bytes hashed so far, including this block (< 2^32)
 */
function compress(h: Uint32Array, m: Uint32Array, byteCount: number, last: boolean): void {
  for (let i = 0; i < 8; i++) {
    v[i] = h[i]
    v[i + 8] = IV[i]
  }
  v[12] ^= byteCount
  if (last) v[14] ^= 0xffffffff
  for (const sigma of SIGMA) {
    for (let g = 0; g < 8; g++) {
      mix(v, g, m[sigma[2 * g]], m[sigma[2 * g + 1]])
    }
  }
  for (let i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8]
}

/** RFC 7693 section 3.1, mixing function G: mixes two message words into column or diagonal `g` of `v`, in place. */
export function mix(v: Uint32Array, g: number, x: number, y: number): void {
  mixFirst(v, g, x)
  const a = INDICES[4 * g]
  const b = INDICES[4 * g + 1]
  const c = INDICES[4 * g + 2]
  const d = INDICES[4 * g + 3]
  v[a] = v[a] + v[b] + y
  v[d] = rotateRight(v[d] ^ v[a], D_SECOND)
  v[c] = v[c] + v[d]
  v[b] = rotateRight(v[b] ^ v[c], B_SECOND)
}

/** First half of `mix`, with the first of its two message words. */
export function mixFirst(v: Uint32Array, g: number, x: number): void {
  const a = INDICES[4 * g]
  const b = INDICES[4 * g + 1]
  const c = INDICES[4 * g + 2]
  const d = INDICES[4 * g + 3]
  v[a] = v[a] + v[b] + x
  v[d] = rotateRight(v[d] ^ v[a], D_FIRST)
  v[c] = v[c] + v[d]
  v[b] = rotateRight(v[b] ^ v[c], B_FIRST)
}

/** Rotates a 32-bit word right; the result is a signed 32-bit integer. */
function rotateRight(x: number, bits: number): number {
  return (x >>> bits) | (x << (32 - bits))
}

/** A message split at its last block: 8 state words, 16 zero-padded little-endian words and two byte counts. */
export interface Midstate {
  readonly state: Uint32Array
  readonly tail: Uint32Array
  readonly tailBytes: number
  readonly totalBytes: number
}

/** Compresses all blocks of `message` except the last. The message has at least one byte. */
export function midstate(message: Uint8Array): Midstate {
  const state = Uint32Array.from(IV)
  state[0] ^= PARAMETER_WORD
  const fullBlocks = Math.ceil(message.length / BLOCK_BYTES) - 1
  for (let block = 0; block < fullBlocks; block++) {
    compress(
      state,
      wordsLE(message.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES)),
      (block + 1) * BLOCK_BYTES,
      false,
    )
  }
  const rest = message.subarray(fullBlocks * BLOCK_BYTES)
  return { state, tail: wordsLE(rest), tailBytes: rest.length, totalBytes: message.length }
}

/** @returns the digest words (h[0..7]) of a midstate with the last block `tail` */
export function finish(mid: Midstate, tail: Uint32Array = mid.tail): Uint32Array {
  const h = mid.state.slice()
  compress(h, tail, mid.totalBytes, true)
  return h
}

/** Reads up to 64 bytes as sixteen little-endian u32 words, zero-padded. */
function wordsLE(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(16)
  for (let i = 0; i < bytes.length; i++) words[i >> 2] |= bytes[i] << (8 * (i & 3))
  return words
}
