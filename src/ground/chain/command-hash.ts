/**
 * Hash of a signed command (PROTOCOL.md E.2) over the UTF-8 bytes of `cmd`. It is the request key, and the bytes that
 * signers sign.
 *
 * The interface description specifies BLAKE2s-256; live nodes and all wallets use BLAKE2b-256. Both are accepted.
 */
import { blake2s } from '@noble/hashes/blake2.js'
import { equalBytes } from '../base/bytes.ts'
import { blake2b256 } from './blake2b.ts'

const HASH_BYTES = 32

/** True if `hash` (32 bytes) is the hash of `cmd` under either function. */
export function isCommandHash(hash: Uint8Array, cmd: Uint8Array): boolean {
  return equalBytes(hash, blake2b256(cmd)) || equalBytes(hash, blake2s(cmd, { dkLen: HASH_BYTES }))
}
