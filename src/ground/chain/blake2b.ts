/** BLAKE2b-256, the hash of commands (PROTOCOL.md E.2) and of the contract language. */
import { blake2b } from '@noble/hashes/blake2.js'
import { createBLAKE2b, type IHasher } from 'hash-wasm'

const HASH_BYTES = 32

/** WebAssembly hasher, ten times as fast as JavaScript. Null until compiled, and where WebAssembly is unavailable. */
let compiled: IHasher | null = null
/** Resolves when compilation ends; false without WebAssembly, where JavaScript computes the same hashes. */
export const whenCompiled: Promise<boolean> = createBLAKE2b(8 * HASH_BYTES).then(
  (hasher) => {
    compiled = hasher
    return true
  },
  () => false,
)

/** @returns the hash, 32 bytes */
export function blake2b256(bytes: Uint8Array): Uint8Array {
  if (compiled === null) return blake2b(bytes, { dkLen: HASH_BYTES })
  return compiled.init().update(bytes).digest('binary')
}
