/** Hashes of modules as text: 32 bytes in base64url without padding. */
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'

const HASH_BYTES = 32
const encoder = new TextEncoder()

/** Hashes that stand for that of a module in its own hashed form, and until it is known. */
export const PLACEHOLDERS = {
  module: encodeBase64Url(encoder.encode('#placeholder')),
  interface: encodeBase64Url(encoder.encode('placeholder')),
} as const

/** Decodes a hash that is known to be well-formed, or the hash of a pseudo-module, which may be empty. */
export function bytesOfHash(text: string): Uint8Array {
  return decodeBase64Url(text, 'hash')
}

/** True for 32 bytes in base64url. */
export function isHash(text: string): boolean {
  try {
    return decodeBase64Url(text, 'hash').length === HASH_BYTES
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}
