/** Ed25519 key pairs, and their signatures. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { decodeBase64Url, decodeHex, encodeHex } from '../base/bytes.ts'

/** A key pair that can sign. The secret key stays inside. */
export interface SigningKey {
  /** 64 lower-case hex digits. */
  readonly publicKey: string
  /** Signs these bytes; returns 128 hex digits. */
  readonly sign: (bytes: Uint8Array) => string
}

/** PKCS #8 prefix of the 32 bytes of a secret key. */
const PKCS8_PREFIX = decodeHex('302e020100300506032b657004220420')

/** Key pair of a secret key (64 hex digits, the seed of RFC 8032). Throws FormatError, RangeError for its length. */
export function signingKey(secretKey: string): SigningKey {
  const seed = decodeHex(secretKey, 'secret key')
  if (seed.length !== 32) throw new RangeError(`a secret key of ${seed.length} bytes, expected 32`)
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  return { publicKey: publicKeyOf(secret), sign: (bytes) => encodeHex(Uint8Array.from(sign(null, bytes, secret))) }
}

function publicKeyOf(secret: KeyObject): string {
  const { x = '' } = createPublicKey(secret).export({ format: 'jwk' })
  return encodeHex(decodeBase64Url(x))
}
