/** Hash function of the language: BLAKE2b-256, as base64url without padding. */
import { blake2b256 } from '../../core/blake2b.ts'
import { encodeBase64Url } from '../../core/bytes.ts'

export function hashBytes(bytes: Uint8Array): string {
  return encodeBase64Url(blake2b256(bytes))
}

/** Hashes the UTF-8 encoding of a text. */
export function hashText(text: string): string {
  return hashBytes(new TextEncoder().encode(text))
}
