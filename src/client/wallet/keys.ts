/** Ed25519 key pairs, and the commands that they sign. */
import { sign } from 'node:crypto'
import { decodeHex, encodeBase64Url, encodeHex } from '#ground/base/bytes.ts'
import { publicKeyOf, SECRET_KEY_BYTES, secretKeyOf } from '#ground/base/ed25519.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import type { Capability } from './capability.ts'
import { commandText, type OpenDraft, type SignedCommand } from './command.ts'

/** A key pair that can sign. The secret key stays inside. */
export interface SigningKey {
  /** 64 lower-case hex digits. */
  readonly publicKey: string
  /** Signs these bytes; returns 128 hex digits. */
  readonly sign: (bytes: Uint8Array) => string
}

/**
 * @param secretKey 64 hex digits, the seed of RFC 8032
 * @returns its key pair
 * @throws FormatError, RangeError for its length
 */
export function signingKey(secretKey: string): SigningKey {
  const seed = decodeHex(secretKey, 'secret key')
  if (seed.length !== SECRET_KEY_BYTES)
    throw new RangeError(`a secret key of ${seed.length} bytes, expected ${SECRET_KEY_BYTES}`)
  const secret = secretKeyOf(seed)
  return { publicKey: publicKeyOf(secret), sign: (bytes) => encodeHex(Uint8Array.from(sign(null, bytes, secret))) }
}

/** A key that signs, and the capabilities to which it is limited. Without any, it signs everything in the command. */
export interface Signer {
  readonly key: SigningKey
  readonly capabilities: readonly Capability[]
}

/** A command with the keys that sign it. */
export interface Draft extends OpenDraft {
  readonly signers: readonly Signer[]
}

/** Hashes and signs a draft. */
export function signedCommand(draft: Draft): SignedCommand {
  const cmd = commandText(draft)
  const hash = blake2b256(new TextEncoder().encode(cmd))
  return { hash: encodeBase64Url(hash), sigs: draft.signers.map(({ key }) => ({ sig: key.sign(hash) })), cmd }
}
