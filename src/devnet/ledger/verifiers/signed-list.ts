/**
 * Verifier `signed_list` of node release 3.2. Its proof is a list of parts, a public key, and its signature of the
 * parts.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha3_256 } from '@noble/hashes/sha3.js'
import { concatBytes, decodeHex } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { equalValues } from '#language/contracts/values/compare.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import type { CapabilityToken, Value } from '#language/contracts/values/value.ts'
import { type VerifierGas, VerifierRefusal } from './verifier.ts'

/** Price of checking the signature. */
const GAS = 650
const KEY_BYTES = 33
const SIGNATURE_BYTES = 64

/** A part of a message: the bytes to hash, and its value in the capability (undefined if it has none). */
interface MessagePart {
  readonly bytes: Uint8Array
  readonly shown: Value | undefined
}

const encoder = new TextEncoder()

/** @throws VerifierRefusal unless the key has signed the parts, and the capability names the parts and the key */
export function signedList(proof: Value, granted: readonly CapabilityToken[], gas: VerifierGas): void {
  const [shown, key] = argumentsOf(granted)
  const [parts, signer, signature] = proofFrom(proof)
  if (!parts.every(isPart)) throw new VerifierRefusal('Parsing hash list failed')
  const message = hashList(parts)
  if (message.shown === undefined || !equalValues(message.shown, shown) || signer !== key) {
    throw new VerifierRefusal('Capability arguments do not match proof data')
  }
  gas.charge(GAS)
  if (!hasSigned(signature, message.bytes, signer)) throw new VerifierRefusal('Signature verification failed')
}

function argumentsOf(granted: readonly CapabilityToken[]): readonly [Value, string] {
  if (granted.length !== 1) throw new VerifierRefusal('Expected exactly one capability')
  const [list, key] = granted[0].args
  if (granted[0].args.length !== 2 || !Array.isArray(list) || typeof key !== 'string') {
    throw new VerifierRefusal('Capability args must be: (list, pubKey)')
  }
  return [list, key]
}

function proofFrom(proof: Value): readonly [readonly Value[], string, string] {
  const [parts, key, signature] = Array.isArray(proof) && proof.length === 3 ? (proof as readonly Value[]) : []
  if (Array.isArray(parts) && typeof key === 'string' && typeof signature === 'string') return [parts, key, signature]
  throw new VerifierRefusal('Proof must be: [message parts, pubKey, sig]')
}

function isPart(part: Value): boolean {
  if (typeof part === 'string' || part instanceof Decimal) return true
  return Array.isArray(part) ? part.every(isPart) : wrappedHex(part) !== undefined
}

/** @returns the hex digits of `{"0x": HEX}`, or undefined for any other value */
function wrappedHex(part: Value): string | undefined {
  const hex = part instanceof Map && part.size === 1 ? part.get('0x') : undefined
  return typeof hex === 'string' ? hex : undefined
}

function partOf(part: Value): MessagePart {
  if (typeof part === 'string') return { bytes: encoder.encode(part), shown: part }
  if (part instanceof Decimal) return { bytes: encoder.encode(digitsOf(part)), shown: part }
  if (Array.isArray(part)) return hashList(part)
  return { bytes: hexBytes(wrappedHex(part) ?? ''), shown: undefined }
}

/** A list counts as the hash of its parts. */
function hashList(list: readonly Value[]): MessagePart {
  const parts = list.map(partOf)
  const shown = parts.flatMap((part) => (part.shown === undefined ? [] : [part.shown]))
  return { bytes: sha3_256(concatBytes(...parts.map(({ bytes }) => bytes))), shown }
}

/** Formats a decimal like live nodes, with a fraction: `1.0`. */
function digitsOf(decimal: Decimal): string {
  return decimal.places === 0 ? `${decimal}.0` : String(decimal)
}

function hexBytes(hex: string): Uint8Array {
  const bytes = bytesOrNull(hex)
  if (bytes === null) throw new VerifierRefusal(`Malformed hex encoding: ${hex}`)
  return bytes
}

/** @returns null if these are not hex digits of whole bytes */
function bytesOrNull(hex: string): Uint8Array | null {
  try {
    return decodeHex(hex)
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}

/**
 * Whether the signature (r and s, 64 bytes in hex) is that of the digest by the key (compressed, in hex).
 * @throws VerifierRefusal for a malformed key or signature
 */
function hasSigned(signature: string, digest: Uint8Array, key: string): boolean {
  const [signatureBytes, keyBytes] = [bytesOrNull(signature), bytesOrNull(key)]
  if (signatureBytes?.length !== SIGNATURE_BYTES || !isPoint(keyBytes)) {
    throw new VerifierRefusal('Malformed signature verification inputs')
  }
  return secp256k1.verify(signatureBytes, digest, keyBytes, { prehash: false, lowS: false })
}

function isPoint(key: Uint8Array | null): key is Uint8Array {
  return key?.length === KEY_BYTES && secp256k1.utils.isValidPublicKey(key, true)
}
