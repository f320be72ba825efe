/** BLAKE2b-256: of commands (PROTOCOL.md E.2), and of everything that the contract language hashes. */
import { blake2b } from '@noble/hashes/blake2.js'
import { createBLAKE2b, type IHasher } from 'hash-wasm'

const HASH_BYTES = 32

/** WebAssembly takes a tenth of the time. null: it is not compiled yet, or cannot be. */
let compiled: IHasher | null = null
/** Resolves once it is compiled, with false where there is no WebAssembly. There JavaScript gives the same hashes. */
export const whenCompiled: Promise<boolean> = createBLAKE2b(8 * HASH_BYTES).then(
  (hasher) => {
    compiled = hasher
    return true
  },
  () => false,
)

/** The hash (32 bytes) of any bytes. */
export function blake2b256(bytes: Uint8Array): Uint8Array {
  if (compiled === null) return blake2b(bytes, { dkLen: HASH_BYTES })
  return compiled.init().update(bytes).digest('binary')
}
