/**
 * The hash of a signed command (PROTOCOL.md E.2), which is its request key and what its signers sign: of the UTF-8 bytes
 * of `cmd`. The interface description says BLAKE2s-256; live nodes and all wallets use BLAKE2b-256. Both are taken.
 */
import { blake2s } from '@noble/hashes/blake2.js'
import { blake2b256 } from './blake2b.ts'
import { equalBytes } from './bytes.ts'

const HASH_BYTES = 32

/** Whether `hash` (32 bytes) is the hash of `cmd` by one of the two functions. */
export function isCommandHash(hash: Uint8Array, cmd: Uint8Array): boolean {
  return equalBytes(hash, blake2b256(cmd)) || equalBytes(hash, blake2s(cmd, { dkLen: HASH_BYTES }))
}
