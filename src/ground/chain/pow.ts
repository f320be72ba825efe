/**
 * The only judge of proof of work: BLAKE2s-256 over all work bytes with @noble/hashes (PROTOCOL.md B.3). Results of
 * kernels, GPUs and other miners are only claims.
 */
import { blake2s } from '@noble/hashes/blake2.js'
import { readU256LE } from '../base/bytes.ts'
import { workLayout } from './header.ts'

/** BLAKE2s-256 of work bytes, including the nonce; 32 bytes. */
export function powHash(work: Uint8Array): Uint8Array {
  return blake2s(work)
}

/** True if a hash, as a little-endian integer, is <= target. Equality solves. */
export function meets(hash: Uint8Array, target: bigint): boolean {
  return readU256LE(hash, 0) <= target
}

/** As `meets`, for a hash as eight words, lowest first. */
export function meetsWords(hash: Uint32Array, target: bigint): boolean {
  let value = 0n
  for (const word of hash.toReversed()) value = (value << 32n) | BigInt(word)
  return value <= target
}

/** Splits a target into eight words, lowest first. */
export function targetWords(target: bigint): Uint32Array {
  return Uint32Array.from({ length: 8 }, (_, index) => Number(BigInt.asUintN(32, target >> BigInt(32 * index))))
}

/** As `meetsWords`, for a target as words; faster for many hashes. */
export function isAtMost(hash: Uint32Array, target: Uint32Array): boolean {
  for (let i = 7; i >= 0; i--) if (hash[i] !== target[i]) return hash[i] < target[i]
  return true
}

/**
 * True if work bytes meet their own target.
 * @throws FormatError if the bytes are not work
 */
export function solves(work: Uint8Array): boolean {
  return meets(powHash(work), readU256LE(work, workLayout(work).target))
}
