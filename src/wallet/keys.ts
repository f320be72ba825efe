/** Ed25519 key pairs, and their signatures. */
import { sign } from 'node:crypto'
import { decodeHex, encodeHex } from '../base/bytes.ts'
import { publicKeyOf, SECRET_KEY_BYTES, secretKeyOf } from '../base/ed25519.ts'

/** A key pair that can sign. The secret key stays inside. */
export interface SigningKey {
  /** 64 lower-case hex digits. */
  readonly publicKey: string
  /** Signs these bytes; returns 128 hex digits. */
  readonly sign: (bytes: Uint8Array) => string
}

/** Key pair of a secret key (64 hex digits, the seed of RFC 8032). Throws FormatError, RangeError for its length. */
export function signingKey(secretKey: string): SigningKey {
  const seed = decodeHex(secretKey, 'secret key')
  if (seed.length !== SECRET_KEY_BYTES)
    throw new RangeError(`a secret key of ${seed.length} bytes, expected ${SECRET_KEY_BYTES}`)
  const secret = secretKeyOf(seed)
  return { publicKey: publicKeyOf(secret), sign: (bytes) => encodeHex(Uint8Array.from(sign(null, bytes, secret))) }
}
