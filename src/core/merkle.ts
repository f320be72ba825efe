/** Merkle trees over SHA-512/256 in the shape of RFC 6962 section 2.1 (PROTOCOL.md B.3). */
import { sha512_256 } from '@noble/hashes/sha2.js'
import { concatBytes } from './bytes.ts'

/** Leaf tags, u16 big-endian in the hash. */
export const TAG = {
  chainId: 0x0002,
  height: 0x0003,
  weight: 0x0004,
  featureFlags: 0x0006,
  creationTime: 0x0007,
  version: 0x0008,
  target: 0x0011,
  transaction: 0x0013,
  transactionOutput: 0x0014,
  minerData: 0x0017,
  coinbase: 0x0018,
  epochStart: 0x0019,
  nonce: 0x0020,
} as const

/** SHA-512/256 of bytes. Where a platform has a faster one than @noble/hashes, it may stand in. */
export type Digest = (bytes: Uint8Array) => Uint8Array

/** SHA-512/256(0x00 || tag u16 BE || bytes). */
export function leaf(tag: number, bytes: Uint8Array, digest: Digest = sha512_256): Uint8Array {
  return digest(concatBytes(Uint8Array.of(0, tag >> 8, tag & 0xff), bytes))
}

/** SHA-512/256(0x00 || bytes): the leaf of a genesis parent hash has no tag (PROTOCOL.md B.5). */
export function untaggedLeaf(bytes: Uint8Array): Uint8Array {
  return sha512_256(concatBytes(Uint8Array.of(0), bytes))
}

/**
 * Root over 32-byte entries, each a leaf hash or a hash used as it is: node = SHA-512/256(0x01 || left || right), the
 * left subtree holds the largest power of two below the count. No entries: SHA-512/256 of nothing.
 */
export function merkleRoot(entries: readonly Uint8Array[], digest: Digest = sha512_256): Uint8Array {
  if (entries.length === 0) return digest(new Uint8Array(0))
  if (entries.length === 1) return entries[0]
  let left = 1
  while (2 * left < entries.length) left *= 2
  const [a, b] = [entries.slice(0, left), entries.slice(left)]
  return digest(concatBytes(Uint8Array.of(1), merkleRoot(a, digest), merkleRoot(b, digest)))
}
