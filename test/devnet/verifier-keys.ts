/** Keys, messages and metadata for tests of verifiers. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256, sha3_256 } from '@noble/hashes/sha3.js'

const utf8 = (text: string) => Buffer.from(text)
export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
export const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

export interface TestKey {
  readonly secret: Uint8Array
  /** Compressed, in hex. */
  readonly publicKey: string
  /** The Ethereum form: `0x` and 40 hex digits. */
  readonly address: string
}

export function newKey(secret: Uint8Array = secp256k1.utils.randomSecretKey()): TestKey {
  const whole = secp256k1.getPublicKey(secret, false)
  return {
    secret,
    publicKey: hex(secp256k1.getPublicKey(secret)),
    address: `0x${hex(keccak_256(whole.subarray(1)).subarray(12))}`,
  }
}

/** r and s in hex: a signature of the SHA3-256 hash of these bytes. */
export function signList({ secret }: TestKey, bytes: Uint8Array): string {
  return hex(secp256k1.sign(sha3_256(bytes), secret, { prehash: false }))
}

/** r, s and v of a signature of the digest. `base` is 27, or 37 as in EIP-155. */
export function signDigest({ secret }: TestKey, digest: Uint8Array, base = 27): Uint8Array {
  const [recovery, ...rest] = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' })
  return Uint8Array.from([...rest, base + recovery])
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const SENDER = Buffer.alloc(32, 1)
const RECIPIENT = Buffer.alloc(32, 2)
export const ORIGIN = 31_337
export const TREE = Buffer.alloc(32, 3)

/** A message, its id and its object in a capability. */
export function newMessage(body: string) {
  const bytes = Buffer.concat([Buffer.of(3), u32(7), u32(ORIGIN), SENDER, u32(626), RECIPIENT, utf8(body)])
  const object = {
    version: { int: 3 },
    nonce: { int: 7 },
    originDomain: { int: ORIGIN },
    destinationDomain: 626,
    sender: base64url(SENDER),
    recipient: base64url(RECIPIENT),
    messageBody: base64url(utf8(body)),
  }
  return { bytes, id: keccak_256(bytes), object }
}

/** The digest that validators sign for a checkpoint. */
export function checkpointDigest(root: Uint8Array, index: number, messageId: Uint8Array): Uint8Array {
  const domain = keccak_256(Buffer.concat([u32(ORIGIN), TREE, utf8('HYPERLANE')]))
  const signed = keccak_256(Buffer.concat([domain, root, u32(index), messageId]))
  return keccak_256(Buffer.concat([utf8('\x19Ethereum Signed Message:\n32'), signed]))
}

/** Metadata with the root, signed by these keys. */
export function rootMetadata(id: Uint8Array, keys: readonly TestKey[], base?: number): Buffer {
  const root = Buffer.alloc(32, 4)
  const digest = checkpointDigest(root, 12, id)
  return Buffer.concat([TREE, root, u32(12), ...keys.map((key) => signDigest(key, digest, base))])
}

/** Metadata with a Merkle proof. The message is at index 5 of its tree; a later message made the checkpoint. */
export function merkleMetadata(id: Uint8Array, keys: readonly TestKey[]): Buffer {
  const beside = Array.from({ length: 32 }, (_, i) => Buffer.alloc(32, 100 + i))
  let root = id
  for (const [height, hash] of beside.entries()) {
    // 5 is 101 in binary: at heights 0 and 2 the message is on the right.
    root = keccak_256(height === 0 || height === 2 ? Buffer.concat([hash, root]) : Buffer.concat([root, hash]))
  }
  const later = Buffer.alloc(32, 9)
  const digest = checkpointDigest(root, 77, later)
  const signatures = keys.map((key) => signDigest(key, digest))
  return Buffer.concat([TREE, u32(5), later, ...beside, u32(77), ...signatures])
}
