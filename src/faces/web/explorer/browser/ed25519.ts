/** Ed25519 keys and signatures of the browser. Secret keys leave this module for nowhere. */
import { decodeBase64Url, decodeHex, encodeHex } from '#ground/base/bytes.ts'

/** A key pair whose secret half stays in the browser's own store of keys. */
export interface BrowserKey {
  /** 64 hex digits. */
  readonly publicKey: string
  /** Signs bytes. Returns 128 hex digits. */
  readonly sign: (bytes: Uint8Array<ArrayBuffer>) => Promise<string>
}

/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410 section 7). */
const PKCS8 = '302e020100300506032b657004220420'
const NAME = 'Ed25519'

/**
 * @param secretKey 64 hex digits.
 * @throws Error in a browser that cannot sign
 */
export async function keyPairOf(secretKey: string): Promise<BrowserKey> {
  if (globalThis.crypto?.subtle === undefined) {
    throw new Error(
      'this page signs only at localhost, 127.0.0.1 or [::1]: browsers allow it nowhere else without https',
    )
  }
  const bytes = decodeHex(PKCS8 + secretKey)
  try {
    const open = await crypto.subtle.importKey('pkcs8', bytes, NAME, true, ['sign'])
    const { x = '' } = await crypto.subtle.exportKey('jwk', open)
    const key = await crypto.subtle.importKey('pkcs8', bytes, NAME, false, ['sign'])
    return {
      publicKey: encodeHex(decodeBase64Url(x)),
      sign: async (signed) => encodeHex(new Uint8Array(await crypto.subtle.sign(NAME, key, signed))),
    }
  } catch (error) {
    throw new Error('this browser cannot sign with Ed25519: use Chrome 137, Firefox 130, Safari 17 or newer', {
      cause: error,
    })
  } finally {
    bytes.fill(0)
  }
}
