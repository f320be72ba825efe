/** Signatures of a command, one for each signer. They sign the 32 bytes of its hash, not `cmd` (PROTOCOL.md E.2). */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { describeError } from '#ground/base/errors.ts'
import { RecentItems } from '#ground/base/recent.ts'
import type { CommandSigner } from '../command/command.ts'
import type { ReleaseRules } from '../rules/releases.ts'
import { type SignedParts, slhDsaFault, usesSlhDsa } from './slh-dsa.ts'
import { webAuthnFault, webAuthnKey } from './webauthn.ts'

/** Rules of the block for signatures. */
export type SignatureRules = Pick<ReleaseRules, 'hasSlhDsa'>

const DEFAULT_RULES: SignatureRules = { hasSlhDsa: false }

/** Public keys cached, at least: creating one takes a seventh of the time of a verification. */
const MIN_CACHED_KEYS = 5000

/** Scheme and public key -> the key. */
const cachedKeys = new RecentItems<string, KeyObject>({ full: MIN_CACHED_KEYS })

/** An Ed25519 signature whose form is right: only its verification is left. */
interface Ed25519Signature {
  readonly key: KeyObject
  readonly bytes: Uint8Array
}

const verifyInThread = promisify(verify)

/** Command -> for each signer, whether {@link verifyAhead} found its signature valid, or null if it did not verify it. */
const verdicts = new WeakMap<SignedParts, readonly (boolean | null)[]>()

/**
 * Verifies the Ed25519 signatures of a command in threads of Node, each of which takes a tenth of a millisecond.
 * {@link signaturesFault} of the same object then takes the verdicts.
 */
export async function verifyAhead(command: SignedParts): Promise<void> {
  const { sigs, signers, hash } = command
  const verifications = signers.map((signer, i) => {
    const sig = sigs[i]?.sig
    const signature = sig === undefined || !usesEd25519(signer) ? null : readEd25519(sig, signer)
    if (signature === null || typeof signature === 'string') return null
    return verifyInThread(null, hash, signature.key, signature.bytes)
  })
  verdicts.set(command, await Promise.all(verifications))
}

/**
 * Checks the signatures of a command.
 * @param isUnchecked whether to accept any signature of a signer, or none
 * @param rules default: without SLH-DSA
 * @returns what is wrong, in the words of live nodes, or null
 */
export function signaturesFault(
  command: SignedParts,
  isUnchecked: (signer: CommandSigner) => boolean = () => false,
  rules = DEFAULT_RULES,
): string | null {
  const { sigs, signers, hash } = command
  const ahead = verdicts.get(command)
  const isComplete = sigs.length === signers.length
  // A client without the keys may leave the last signatures out.
  if (!isComplete && (sigs.length > signers.length || !signers.slice(sigs.length).every(isUnchecked))) {
    const counts = `Number of signers: ${signers.length}. Number of signatures: ${sigs.length}.`
    return `The number of signers and signatures do not match. ${counts}`
  }
  for (const [i, signer] of signers.entries()) {
    if (isUnchecked(signer)) continue
    const fault = signatureFault(sigs[i]?.sig, signer, hash, rules, ahead?.[i])
    if (fault !== null) return `The signature at position ${i} is invalid: ${fault}.`
  }
  return null
}

/**
 * @param rules default: without SLH-DSA
 * @param verdict whether the signature is valid, if its verification was done before
 * @returns what is wrong with one signature, or null
 */
export function signatureFault(
  sig: string | undefined,
  signer: CommandSigner,
  hash: Uint8Array,
  { hasSlhDsa } = DEFAULT_RULES,
  verdict: boolean | null = null,
): string | null {
  const { pubKey, scheme } = signer
  if (sig === undefined) return 'null'
  if (usesSlhDsa(signer))
    return hasSlhDsa ? slhDsaFault(sig, signer, hash) : `Unsupported Signature ${unknownSchemeText(scheme)}`
  if (usesEd25519(signer)) {
    const signature = readEd25519(sig, signer)
    if (typeof signature === 'string') return signature
    return (verdict ?? verify(null, hash, signature.key, signature.bytes)) ? null : 'invalid ed25519 signature'
  }
  if (scheme !== 'WebAuthn') return unknownSchemeText(scheme)
  const key = cachedKey(`WebAuthn ${pubKey}`, () => webAuthnKey(pubKey))
  return typeof key === 'string' ? key : webAuthnFault(sig, key, hash)
}

const usesEd25519 = ({ scheme }: CommandSigner) => (scheme ?? 'ED25519') === 'ED25519'

/** Checks all but the signature itself. @returns the reason for a refusal, as a text */
function readEd25519(sig: string, { pubKey, addr }: CommandSigner): Ed25519Signature | string {
  if (!/^[0-9a-fA-F]{64}$/.test(pubKey)) return 'the public key is not 64 hex digits'
  if ((addr ?? pubKey) !== pubKey) return 'the address differs from the public key'
  if (!/^[0-9a-fA-F]{128}$/.test(sig)) return 'not 128 hex digits, an ed25519 signature'
  const key = cachedKey(`ED25519 ${pubKey}`, () => ed25519Key(pubKey))
  return typeof key === 'string' ? key : { key, bytes: Buffer.from(sig, 'hex') }
}

const unknownSchemeText = (scheme: string | null) => `scheme ${JSON.stringify(scheme)}; expected ED25519 or WebAuthn`

/** @returns the key, or the reason why it is invalid */
function cachedKey(name: string, make: () => KeyObject | null): KeyObject | string {
  const kept = cachedKeys.get(name)
  if (kept !== undefined) return kept
  let key: KeyObject | null
  try {
    key = make()
  } catch (error) {
    return `the public key cannot be one (${describeError(error)})`
  }
  if (key === null) return 'the public key is no COSE key of P-256 or Ed25519'
  cachedKeys.set(name, key)
  return key
}

function ed25519Key(hex: string): KeyObject {
  const x = Buffer.from(hex, 'hex').toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}
