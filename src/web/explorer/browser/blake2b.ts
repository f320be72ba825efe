/** BLAKE2b-256 (RFC 7693) for short texts: the hash of commands (PROTOCOL.md E.2). The page has no library for it. */

const HASH_BYTES = 32
const BLOCK_BYTES = 128
const MASK = (1n << 64n) - 1n
const IV = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
]
/** Order of the message words in each round (RFC 7693 section 2.7). */
const SIGMA = [
  '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15',
  '14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3',
  '11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4',
  '7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8',
  '9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13',
  '2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9',
  '12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11',
  '13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10',
  '6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5',
  '10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0',
].map((line) => line.split(' ').map(Number))
const ROUNDS = 12
const COLUMNS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
]

const rotated = (word: bigint, bits: bigint) => ((word >> bits) | (word << (64n - bits))) & MASK

function compress(h: bigint[], block: DataView, counter: bigint, isLast: boolean): void {
  const v = [...h, ...IV]
  v[12] ^= counter
  if (isLast) v[14] ^= MASK
  const m = Array.from({ length: 16 }, (_, i) => block.getBigUint64(8 * i, true))
  for (let round = 0; round < ROUNDS; round++) {
    const sigma = SIGMA[round % SIGMA.length]
    for (const [i, [a, b, c, d]] of COLUMNS.entries()) {
      v[a] = (v[a] + v[b] + m[sigma[2 * i]]) & MASK
      v[d] = rotated(v[d] ^ v[a], 32n)
      v[c] = (v[c] + v[d]) & MASK
      v[b] = rotated(v[b] ^ v[c], 24n)
      v[a] = (v[a] + v[b] + m[sigma[2 * i + 1]]) & MASK
      v[d] = rotated(v[d] ^ v[a], 16n)
      v[c] = (v[c] + v[d]) & MASK
      v[b] = rotated(v[b] ^ v[c], 63n)
    }
  }
  for (let i = 0; i < h.length; i++) h[i] ^= v[i] ^ v[i + 8]
}

/** @returns the hash, 32 bytes */
export function blake2b256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const h = [...IV]
  // Parameter block: no key, fanout 1, depth 1.
  h[0] ^= BigInt(0x01010000 | HASH_BYTES)
  const blocks = Math.max(1, Math.ceil(bytes.length / BLOCK_BYTES))
  const padded = new Uint8Array(blocks * BLOCK_BYTES)
  padded.set(bytes)
  for (let i = 0; i < blocks; i++) {
    const isLast = i === blocks - 1
    const counter = BigInt(isLast ? bytes.length : (i + 1) * BLOCK_BYTES)
    compress(h, new DataView(padded.buffer, i * BLOCK_BYTES, BLOCK_BYTES), counter, isLast)
  }
  const out = new DataView(new ArrayBuffer(HASH_BYTES))
  for (let i = 0; i < HASH_BYTES / 8; i++) out.setBigUint64(8 * i, h[i], true)
  return new Uint8Array(out.buffer)
}
