/** Hash function of the language: BLAKE2b-256, as base64url without padding. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'

const encoder = new TextEncoder()

export function hashBytes(bytes: Uint8Array): string {
  return encodeBase64Url(blake2b256(bytes))
}

/** Hashes the UTF-8 encoding of a text. */
export function hashText(text: string): string {
  return hashBytes(encoder.encode(text))
}

/** A number for a text, to compare it fast: FNV-1a, 32 bits. Different texts may have the same one. */
export function shortHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
