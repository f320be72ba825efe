/** Seals: short hashes that find every accidental change of a text. They stop no forger, as they have no key. */
import { concatBytes, encodeBase64Url } from './bytes.ts'

/** A hash function with at least 9 bytes of output. */
type SealHash = (bytes: Uint8Array) => Uint8Array

/** Bytes of a seal, 12 characters: 72 bits find every accident. */
const SEAL_BYTES = 9

const encoder = new TextEncoder()

/**
 * The seal of a text: the beginning of its hash in base64url.
 * @param before text that the seal covers too, such as the seal of the line before, or the hash of a block
 */
export function sealOf(hash: SealHash, before: string, text: string | Uint8Array): string {
  const bytes = typeof text === 'string' ? encoder.encode(before + text) : concatBytes(encoder.encode(before), text)
  return encodeBase64Url(hash(bytes).subarray(0, SEAL_BYTES))
}
