/**
 * Signatures of SLH-DSA as KIP-0041 proposes them, in the order and the words of the branch of the language that has them
 * (kda-community/pact-5, post_quantum). They sign the hash of a command as HashSLH-DSA does (FIPS 205 section 10.2.2).
 */
import { hash as digest } from 'node:crypto'
import { decodeBase64Url, decodeHex } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { RecentItems } from '#ground/base/recent.ts'
import { webAuthnPartsOf } from '#ground/chain/command-size.ts'
import { slhDsaSchemes } from '#ground/chain/slh-dsa.ts'
import type { Command, CommandSigner } from '../command/command.ts'

/** Verdicts cached, at least. A signature is checked on arrival and in blocks, and takes 3 to 40 ms. */
const MIN_CACHED_VERDICTS = 10_000

/** Maximum signatures of a command from a client. Blocks may have more, as far as their gas goes. */
const MAX_SIGNATURES = 4

/** Domain separator of a message that was hashed before, and the length and text of the context. */
const CONTEXT = Buffer.from('\x01\x08CHAINWEB', 'latin1')
/** Length of a hash -> the object identifier of BLAKE2b with this length, in DER: 1.3.6.1.4.1.1722.12.2.1.8 and .16. */
const HASHES: ReadonlyMap<number, Buffer> = new Map([
  [32, Buffer.from('060b2b060104018d3a0c020108', 'hex')],
  [64, Buffer.from('060b2b060104018d3a0c020110', 'hex')],
])

const FAILED = 'Signature verification failed'

type Library = typeof import('@noble/post-quantum/slh-dsa.js')

let library: Library | null = null

/** A signature whose form is right: only its verification is left. */
interface CheckedSignature {
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
  /** Signed bytes: the hash of the command in its frame. */
  readonly message: Uint8Array
  /** Identifies all of the above. */
  readonly id: string
}

/** Result of a verification, by {@link CheckedSignature.id}. */
const verdicts = new RecentItems<string, boolean>({ full: MIN_CACHED_VERDICTS })

/** Loads what verifies the signatures. Without it, none can be verified. */
export async function loadSlhDsa(): Promise<void> {
  library ??= await import('@noble/post-quantum/slh-dsa.js')
}

/** Whether a signer names one of the schemes. */
export const usesSlhDsa = ({ scheme }: Pick<CommandSigner, 'scheme'>): boolean => slhDsaSchemes.has(scheme ?? '')

/**
 * Verifies a signature, at once unless the verdict is known.
 * @param signer its scheme must be one of SLH-DSA
 * @returns what is wrong with it, or null
 */
export function slhDsaFault(sig: string, signer: CommandSigner, hash: Uint8Array): string | null {
  const sealed = readCheckedSignature(sig, signer, hash)
  if (typeof sealed === 'string') return sealed
  return isValid(sealed) ? null : FAILED
}

/** @returns why a node does not take a command with so many of the signatures from a client, or null */
export function manySlhDsaFault({ signers }: Pick<Command, 'signers'>): string | null {
  const count = signers.filter(usesSlhDsa).length
  return count <= MAX_SIGNATURES ? null : `Too many SLH-DSA signatures: ${count}; a node takes ${MAX_SIGNATURES}`
}

/** The parts of a command that its signatures depend on. */
export type SignedParts = Pick<Command, 'sigs' | 'signers' | 'hash'>

/** Whether a verification of the command is left, which takes long. */
export const isUnverified = (command: SignedParts): boolean =>
  checkedSignaturesOf(command).some(({ id }) => !verdicts.has(id))

/** @returns for each signature that has the right form, whether it is valid */
export const verdictsOn = (command: SignedParts): boolean[] => checkedSignaturesOf(command).map(isValid)

/** Takes what {@link verdictsOn} returned for the same command in a thread. */
export function keepVerdicts(command: SignedParts, found: readonly boolean[]): void {
  for (const [i, { id }] of checkedSignaturesOf(command).entries()) verdicts.set(id, found[i])
}

function checkedSignaturesOf({ sigs, signers, hash }: SignedParts): CheckedSignature[] {
  return signers.flatMap((signer, i) => {
    const sig = sigs[i]?.sig
    if (sig === undefined || !usesSlhDsa(signer)) return []
    const sealed = readCheckedSignature(sig, signer, hash)
    return typeof sealed === 'string' ? [] : [sealed]
  })
}

/** Checks all but the signature itself. @returns the reason for a refusal, as a text */
function readCheckedSignature(
  sig: string,
  { scheme, pubKey }: CommandSigner,
  hash: Uint8Array,
): CheckedSignature | string {
  const sizes = slhDsaSchemes.get(scheme ?? '')
  // Nodes distinguish the kinds of signatures by their form.
  if (sizes !== undefined && webAuthnPartsOf(sig) !== null) {
    return `scheme of Just ${sizes.constructorName} does not match signature type WebAuthn`
  }
  const publicKey = bytesOf(() => decodeHex(pubKey, 'pubKey'))
  if (typeof publicKey === 'string') return publicKey
  const signature = bytesOf(() => readSignature(sig))
  if (typeof signature === 'string') return signature
  if (scheme === null || sizes === undefined) return 'Unsupported Signature scheme'
  const identifier = HASHES.get(hash.length)
  if (identifier === undefined) return 'Unsupported TxHash'
  if (publicKey.length !== sizes.keyBytes) return 'Invalid key'
  if (signature.length !== sizes.signatureBytes) return 'Invalid signature length'
  const message = new Uint8Array([...CONTEXT, ...identifier, ...hash])
  const parts = [scheme, pubKey.toLowerCase(), Buffer.from(hash).toString('base64url'), digest('sha256', signature)]
  return { publicKey, signature, message, id: parts.join(' ') }
}

/** Reads base64url without padding. */
function readSignature(text: string): Uint8Array {
  if (text.length % 4 === 1) throw new FormatError('sig', text.length, 'Base64-encoded bytestring has invalid size')
  if (text.endsWith('=')) {
    throw new FormatError('sig', text.length - 1, 'Base64-encoded bytestring required to be unpadded')
  }
  return decodeBase64Url(text, 'sig')
}

/** @returns the bytes, or the reason why the text is none */
function bytesOf(read: () => Uint8Array): Uint8Array | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof FormatError) return error.message
    throw error
  }
}

function isValid(sealed: CheckedSignature): boolean {
  const known = verdicts.get(sealed.id) ?? verify(sealed)
  verdicts.set(sealed.id, known)
  return known
}

function verify({ signature, message, publicKey }: CheckedSignature): boolean {
  if (library === null) throw new Error('the library for SLH-DSA is not loaded')
  const { slh_dsa_sha2_128s, slh_dsa_sha2_192s, slh_dsa_sha2_256s } = library
  const verifier = { 32: slh_dsa_sha2_128s, 48: slh_dsa_sha2_192s, 64: slh_dsa_sha2_256s }[publicKey.length]
  return verifier?.internal.verify(signature, message, publicKey) ?? false
}
