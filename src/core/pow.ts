/**
 * The only judge of proof of work: BLAKE2s-256 over all work bytes with @noble/hashes (PROTOCOL.md B.3). Kernels, GPUs
 * and other miners only make claims.
 */
import { blake2s } from '@noble/hashes/blake2.js'
import { readU256LE } from './bytes.ts'
import { workLayout } from './header.ts'

/** BLAKE2s-256 of work bytes, nonce included: 32 bytes. */
export function powHash(work: Uint8Array): Uint8Array {
  return blake2s(work)
}

/** Whether a hash, read as a little-endian integer, is <= target. Equality solves. */
export function meets(hash: Uint8Array, target: bigint): boolean {
  return readU256LE(hash, 0) <= target
}

/** As meets, for a hash as eight words, the first one lowest. */
export function meetsWords(hash: Uint32Array, target: bigint): boolean {
  let value = 0n
  for (const word of hash.toReversed()) value = (value << 32n) | BigInt(word)
  return value <= target
}

/** Whether work bytes solve their own target. Throws FormatError for bytes that are not work. */
export function solves(work: Uint8Array): boolean {
  return meets(powHash(work), readU256LE(work, workLayout(work).target))
}
