/**
 * Verifier `hyperlane_v3_message` of node release 3.2. Its proof is a message, and metadata that validators of the
 * chain of origin have signed.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes, decodeBase64Url, encodeBase64Url, encodeHex } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { equalValues } from '#language/contracts/values/compare.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import { type CapabilityToken, Unit, type Value } from '#language/contracts/values/value.ts'
import {
  branchRoot,
  type HyperlaneMessage,
  merkleMetadataFrom,
  messageFrom,
  rootMetadataFrom,
  u32BE,
} from './hyperlane-format.ts'
import { shownValue } from './shown-value.ts'
import { type VerifierGas, VerifierRefusal } from './verifier.ts'

const GAS = { decode: 5, branchRoot: 18, recover: 16_250 }
const WORD = 32
const ADDRESS_BYTES = 20
const encoder = new TextEncoder()
const SIGNED_HEADER = encoder.encode('\x19Ethereum Signed Message:\n32')
const DOMAIN = encoder.encode('HYPERLANE')
const NUMBERS = ['version', 'nonce', 'originDomain', 'destinationDomain'] as const

/** Arguments of the capability. */
interface Claim {
  readonly id: Value
  readonly message: Value
  /** Addresses: `0x` and 40 hex digits. */
  readonly signers: readonly string[]
  /** Least number of signers that must have signed. */
  readonly threshold: bigint
}

/** Data that the validators have signed. */
interface Checkpoint {
  readonly treeAddress: Uint8Array
  readonly root: Uint8Array
  readonly index: number
  readonly messageId: Uint8Array
  readonly signatures: readonly Uint8Array[]
}

/**
 * @throws VerifierRefusal unless the capability describes the message of the proof, and enough of its signers have
 *   signed a checkpoint that holds the message
 * @throws other errors where live nodes have an uncaught exception
 */
export function hyperlaneMessage(proof: Value, granted: readonly CapabilityToken[], gas: VerifierGas): void {
  const claim = claimOf(granted)
  const [messageText, metadataText] = proofFrom(proof)
  gas.charge(GAS.decode)
  const bytes = decodeBase64Url(messageText)
  const message = messageFrom(bytes)
  const id = keccak_256(bytes)
  expectMessage(claim, message, id)
  gas.charge(GAS.decode)
  const checkpoint = checkpointFrom(metadataBytes(metadataText), id, gas)
  expectSigners(claim, checkpoint, message, gas)
}

function claimOf(granted: readonly CapabilityToken[]): Claim {
  if (granted.length !== 1) throw new VerifierRefusal('Expected one capability.')
  const { args } = granted[0]
  const [id, message, signers, threshold] = args
  if (args.length !== 4 || !Array.isArray(signers) || !isLiteral(threshold)) {
    throw new VerifierRefusal(
      'Incorrect number of capability arguments. Expected: messageId, message, signers, threshold.',
    )
  }
  const count = integerOf('Threshold', threshold)
  if (!isTexts(signers)) throw new VerifierRefusal('Only string signers are supported')
  // Live nodes store the threshold in 64 bits.
  return { id, message: withIntegers(message), signers, threshold: BigInt.asIntN(64, count) }
}

const isTexts = (list: readonly Value[]): list is readonly string[] => list.every((item) => typeof item === 'string')

/** Strings, numbers, booleans and unit. */
function isLiteral(value: Value | undefined): value is Value {
  return ['string', 'bigint', 'boolean'].includes(typeof value) || value instanceof Decimal || value instanceof Unit
}

/** Accepts an integer, or a decimal without a fraction. */
function integerOf(name: string, value: Value): bigint {
  if (typeof value === 'bigint') return value
  if (value instanceof Decimal && value.isWhole()) return value.round(0).mantissa
  throw new VerifierRefusal(`${name} is not an integer`)
}

/** Converts the numbers of a message object to integers. */
function withIntegers(message: Value): Value {
  if (!(message instanceof Map)) throw new VerifierRefusal('Message should be an object')
  const fields = new Map(message as ReadonlyMap<string, Value>)
  for (const name of NUMBERS) {
    const value = fields.get(name)
    if (!isLiteral(value)) throw new VerifierRefusal(`${name} is missing`)
    fields.set(name, integerOf(name, value))
  }
  return fields
}

function proofFrom(proof: Value): readonly [string, string] {
  const [message, metadata] = Array.isArray(proof) && proof.length === 2 ? (proof as readonly Value[]) : []
  if (typeof message === 'string' && typeof metadata === 'string') return [message, metadata]
  throw new VerifierRefusal('Expected a proof data as a list')
}

function expectMessage(claim: Claim, message: HyperlaneMessage, id: Uint8Array): void {
  const provenId = encodeBase64Url(id)
  if (claim.id !== provenId) {
    throw new VerifierRefusal(`Invalid message id. Expected: ${shownValue(provenId)} but got ${shownValue(claim.id)}`)
  }
  const proven = messageValue(message)
  if (!equalValues(proven, claim.message)) {
    throw new VerifierRefusal(`Invalid message. Expected: ${shownValue(proven)} but got ${shownValue(claim.message)}`)
  }
}

function messageValue({ version, nonce, originDomain, destinationDomain, ...message }: HyperlaneMessage): Value {
  return new Map<string, Value>([
    ['version', BigInt(version)],
    ['nonce', BigInt(nonce)],
    ['originDomain', BigInt(originDomain)],
    ['destinationDomain', BigInt(destinationDomain)],
    ['sender', encodeBase64Url(message.sender)],
    ['recipient', encodeBase64Url(message.recipient)],
    ['messageBody', encodeBase64Url(message.body)],
  ])
}

function metadataBytes(text: string): Uint8Array {
  try {
    return decodeBase64Url(text)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new VerifierRefusal('error decoding metadata from base64')
  }
}

/** Metadata is of the Merkle kind if it is long enough and the gas suffices, otherwise of the root kind. */
function checkpointFrom(metadata: Uint8Array, messageId: Uint8Array, gas: VerifierGas): Checkpoint {
  return merkleCheckpoint(metadata, messageId, gas) ?? rootCheckpoint(metadata, messageId)
}

function merkleCheckpoint(metadata: Uint8Array, leaf: Uint8Array, gas: VerifierGas): Checkpoint | null {
  const read = unlessShort(() => merkleMetadataFrom(metadata))
  // Live nodes also treat a lack of gas as metadata of the root kind.
  if (read === null || gas.left < GAS.branchRoot) return null
  gas.charge(GAS.branchRoot)
  const { treeAddress, index, checkpointId, proof, checkpointIndex, signatures } = read
  const root = branchRoot({ leaf, index, proof }, keccak_256)
  return { treeAddress, root, index: checkpointIndex, messageId: checkpointId, signatures }
}

function rootCheckpoint(metadata: Uint8Array, messageId: Uint8Array): Checkpoint {
  const read = unlessShort(() => rootMetadataFrom(metadata))
  if (read === null) throw new VerifierRefusal('error decoding metadata from bytes')
  return { ...read, messageId }
}

/** @returns null if there are too few bytes */
function unlessShort<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function expectSigners(claim: Claim, checkpoint: Checkpoint, message: HyperlaneMessage, gas: VerifierGas): void {
  const { threshold } = claim
  const { signatures } = checkpoint
  if (threshold <= 0n) throw new VerifierRefusal('Threshold should be greater than 0')
  if (BigInt(signatures.length) < threshold) {
    throw new VerifierRefusal("The number of signatures can't be less than threshold")
  }
  const digest = digestOf(checkpoint, message)
  let signers = claim.signers
  for (const signature of signatures.slice(0, Number(threshold))) {
    gas.charge(GAS.recover)
    const place = signers.indexOf(addressFrom(signature, digest))
    if (place === -1) throw new VerifierRefusal('Verification failed')
    // Signatures are in the order of the signers.
    signers = signers.slice(place + 1)
  }
}

function digestOf({ treeAddress, root, index, messageId }: Checkpoint, { originDomain }: HyperlaneMessage): Uint8Array {
  const domain = keccak_256(concatBytes(u32BE(originDomain), treeAddress, DOMAIN))
  const signed = keccak_256(concatBytes(domain, root, u32BE(index), messageId))
  return keccak_256(concatBytes(SIGNED_HEADER, signed))
}

/**
 * Recovers the address that has signed: r, s and v, 65 bytes.
 * @throws VerifierRefusal if there is none, and RangeError for an invalid v
 */
function addressFrom(signature: Uint8Array, digest: Uint8Array): string {
  const recovery = recoveryOf(signature[2 * WORD])
  const key = recoveredKey(concatBytes(Uint8Array.of(recovery), signature.subarray(0, 2 * WORD)), digest)
  return `0x${encodeHex(keccak_256(key.subarray(1)).subarray(-ADDRESS_BYTES))}`
}

/** Recovery id, 0 to 3, of a `v` of 27 to 30, or of 37 to 40 (EIP-155). @throws RangeError for any other */
function recoveryOf(v: number): number {
  const base = v >= 37 ? 37 : 27
  const recovery = v - base
  if (recovery < 0 || recovery > 3) throw new RangeError(`v is ${v}; expected 27 to 30 or 37 to 40`)
  return recovery
}

/** The public key, uncompressed. @throws VerifierRefusal if there is none */
function recoveredKey(signature: Uint8Array, digest: Uint8Array): Uint8Array {
  try {
    return secp256k1.Signature.fromBytes(signature, 'recovered').recoverPublicKey(digest).toBytes(false)
  } catch {
    // noble throws if no key can have made this signature.
    throw new VerifierRefusal('Failed to recover an address: incorrect signature')
  }
}
