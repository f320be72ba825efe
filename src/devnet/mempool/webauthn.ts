/**
 * Signatures of authenticators (W3C Web Authentication, level 2, section 7.2). They sign the data of the authenticator
 * and the SHA-256 of the client data from the browser. The challenge in the client data is the hash of the command.
 */
import { createPublicKey, hash as digest, type KeyObject, verify } from 'node:crypto'
import { jsonObjectIn } from '#ground/base/json.ts'
import { webAuthnPartsOf } from '#ground/chain/command-size.ts'

/** Optional prefix of the public key of such a signer. */
const PREFIX = 'WEBAUTHN-'
/** Labels of a COSE key (RFC 9052 section 7) and their values (RFC 9053 section 7). */
const [KEY_TYPE, CURVE, X, Y] = [1, -1, -2, -3]
const [OKP, EC2] = [1, 2]
const [P_256, ED25519] = [1, 6]
/** Size of a coordinate on either curve. */
const COORDINATE_BYTES = 32
/** CBOR (RFC 8949 section 3.1): types of items. */
const [UNSIGNED, NEGATIVE, BYTES, MAP] = [0, 1, 2, 5]

type CborItem = number | Buffer

/**
 * Reads a public key: a COSE key of P-256 or Ed25519 in hex.
 * @returns null for any other text
 * @throws for a point off the curve
 */
export function webAuthnKey(pubKey: string): KeyObject | null {
  const hex = pubKey.startsWith(PREFIX) ? pubKey.slice(PREFIX.length) : pubKey
  if (!/^([0-9a-fA-F]{2})+$/.test(hex)) return null
  const fields = cborMap(Buffer.from(hex, 'hex'))
  const [x, y] = [fields?.get(X), fields?.get(Y)]
  const kind = `${fields?.get(KEY_TYPE)} ${fields?.get(CURVE)}`
  if (!isCoordinate(x)) return null
  if (kind === `${EC2} ${P_256}` && isCoordinate(y)) {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: text(x), y: text(y) }, format: 'jwk' })
  }
  if (kind !== `${OKP} ${ED25519}`) return null
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text(x) }, format: 'jwk' })
}

const isCoordinate = (item: CborItem | undefined): item is Buffer =>
  Buffer.isBuffer(item) && item.length === COORDINATE_BYTES
const text = (bytes: Buffer) => bytes.toString('base64url')

/**
 * @param sig JSON text of `{"authenticatorData","clientDataJSON","signature"}`, values in base64
 * @returns what is wrong with a signature, or null
 */
export function webAuthnFault(sig: string, key: KeyObject, hash: Uint8Array): string | null {
  const parts = webAuthnPartsOf(sig)
  if (parts === null) return 'no JSON text with authenticatorData, clientDataJSON and signature'
  const { authenticatorData, clientDataJSON, signature: signatureText } = parts
  const [data, client, signature] = [authenticatorData, clientDataJSON, signatureText].map((part) =>
    Buffer.from(part, 'base64'),
  )
  const challenge = challengeOf(client.toString())
  if (challenge !== Buffer.from(hash).toString('base64url')) return 'its challenge is not the hash of the command'
  const signed = Buffer.concat([data, digest('sha256', client, 'buffer')])
  const algorithm = key.asymmetricKeyType === 'ec' ? 'sha256' : null
  return verify(algorithm, signed, key, signature) ? null : 'invalid WebAuthn signature'
}

const challengeOf = (client: string) => jsonObjectIn(client)?.challenge

/** Reads a CBOR map from small integers to small integers and bytes. @returns null if it is none, or if bytes follow */
function cborMap(bytes: Buffer): ReadonlyMap<number, CborItem> | null {
  let at = 0
  const head = (): { type: number; value: number } | null => {
    const first = bytes[at++]
    if (first === undefined) return null
    const [type, short] = [first >> 5, first & 0x1f]
    // 24 to 26: the value follows in 1, 2 or 4 bytes. Larger ones mean lengths that no key has.
    if (short > 26) return null
    const size = short < 24 ? 0 : 1 << (short - 24)
    if (at + size > bytes.length) return null
    const value = size === 0 ? short : bytes.readUIntBE(at, size)
    at += size
    return { type, value }
  }
  const item = (): CborItem | null => {
    const next = head()
    if (next?.type === UNSIGNED) return next.value
    if (next?.type === NEGATIVE) return -1 - next.value
    if (next?.type !== BYTES || at + next.value > bytes.length) return null
    at += next.value
    return bytes.subarray(at - next.value, at)
  }
  const start = head()
  if (start?.type !== MAP) return null
  const fields = new Map<number, CborItem>()
  for (let i = 0; i < start.value; i++) {
    const [label, value] = [item(), item()]
    if (typeof label !== 'number' || value === null) return null
    fields.set(label, value)
  }
  return at === bytes.length ? fields : null
}
