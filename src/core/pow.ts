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

/** A target as eight words, the first one lowest. */
export function targetWords(target: bigint): Uint32Array {
  return Uint32Array.from({ length: 8 }, (_, index) => Number(BigInt.asUintN(32, target >> BigInt(32 * index))))
}

/** As meetsWords, for a target as words: for those who judge many hashes. */
export function isAtMost(hash: Uint32Array, target: Uint32Array): boolean {
  for (let i = 7; i >= 0; i--) if (hash[i] !== target[i]) return hash[i] < target[i]
  return true
}

/** Whether work bytes solve their own target. Throws FormatError for bytes that are not work. */
export function solves(work: Uint8Array): boolean {
  return meets(powHash(work), readU256LE(work, workLayout(work).target))
}
