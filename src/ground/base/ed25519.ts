/** Ed25519 keys by Node's own OpenSSL. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

/** Bytes of a secret key, which is the seed of RFC 8032: any 32 random bytes. */
export const SECRET_KEY_BYTES = 32
/** PKCS #8 prefix of the bytes of a secret key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A secret key that can sign. @param seed 32 bytes */
export function secretKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
}

/** The public key of a secret key: 64 hex digits. */
export function publicKeyOf(secret: KeyObject): string {
  const { x = '' } = createPublicKey(secret).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url').toString('hex')
}
