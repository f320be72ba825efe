/** The hash of the language: BLAKE2b-256, as base64url without padding. */
import { blake2b } from '@noble/hashes/blake2.js'
import { encodeBase64Url } from '../../core/bytes.ts'

const HASH_BYTES = 32

export function hashBytes(bytes: Uint8Array): string {
  return encodeBase64Url(blake2b(bytes, { dkLen: HASH_BYTES }))
}

/** Of the text in UTF-8. */
export function hashText(text: string): string {
  return hashBytes(new TextEncoder().encode(text))
}
