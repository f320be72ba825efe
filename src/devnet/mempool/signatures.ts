/** Signatures of a command, one for each signer. They sign the 32 bytes of its hash, not `cmd` (PROTOCOL.md E.2). */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { describeError } from '#ground/base/errors.ts'
import { RecentItems } from '#ground/base/recent.ts'
import type { Command, CommandSigner } from '../command/command.ts'
import type { ReleaseRules } from '../rules/releases.ts'
import { slhDsaFault, usesSlhDsa } from './slh-dsa.ts'
import { webAuthnFault, webAuthnKey } from './webauthn.ts'

/** Rules of the block for signatures. */
export type SignatureRules = Pick<ReleaseRules, 'hasSlhDsa'>

const DEFAULT_RULES: SignatureRules = { hasSlhDsa: false }

/** Public keys cached, at least: creating one takes a seventh of the time of a verification. */
const MIN_CACHED_KEYS = 5000

/** Scheme and public key -> the key. */
const cachedKeys = new RecentItems<string, KeyObject>({ full: MIN_CACHED_KEYS })

/**
 * Checks the signatures of a command.
 * @param isUnchecked whether to accept any signature of a signer, or none
 * @param rules default: without SLH-DSA
 * @returns what is wrong, in the words of live nodes, or null
 */
export function signaturesFault(
  { sigs, signers, hash }: Pick<Command, 'sigs' | 'signers' | 'hash'>,
  isUnchecked: (signer: CommandSigner) => boolean = () => false,
  rules = DEFAULT_RULES,
): string | null {
  const isComplete = sigs.length === signers.length
  // A client without the keys may leave the last signatures out.
  if (!isComplete && (sigs.length > signers.length || !signers.slice(sigs.length).every(isUnchecked))) {
    const counts = `Number of signers: ${signers.length}. Number of signatures: ${sigs.length}.`
    return `The number of signers and signatures do not match. ${counts}`
  }
  for (const [i, signer] of signers.entries()) {
    if (isUnchecked(signer)) continue
    const fault = signatureFault(sigs[i]?.sig, signer, hash, rules)
    if (fault !== null) return `The signature at position ${i} is invalid: ${fault}.`
  }
  return null
}

/**
 * @param rules default: without SLH-DSA
 * @returns what is wrong with one signature, or null
 */
export function signatureFault(
  sig: string | undefined,
  signer: CommandSigner,
  hash: Uint8Array,
  { hasSlhDsa } = DEFAULT_RULES,
): string | null {
  const { pubKey, scheme, addr } = signer
  if (sig === undefined) return 'null'
  if (usesSlhDsa(signer))
    return hasSlhDsa ? slhDsaFault(sig, signer, hash) : `Unsupported Signature ${unknownSchemeText(scheme)}`
  switch (scheme ?? 'ED25519') {
    case 'ED25519': {
      if (!/^[0-9a-fA-F]{64}$/.test(pubKey)) return 'the public key is not 64 hex digits'
      if ((addr ?? pubKey) !== pubKey) return 'the address differs from the public key'
      if (!/^[0-9a-fA-F]{128}$/.test(sig)) return 'not 128 hex digits, an ed25519 signature'
      const key = cachedKey(`ED25519 ${pubKey}`, () => ed25519Key(pubKey))
      if (typeof key === 'string') return key
      return verify(null, hash, key, Buffer.from(sig, 'hex')) ? null : 'invalid ed25519 signature'
    }
    case 'WebAuthn': {
      const key = cachedKey(`WebAuthn ${pubKey}`, () => webAuthnKey(pubKey))
      return typeof key === 'string' ? key : webAuthnFault(sig, key, hash)
    }
    default:
      return unknownSchemeText(scheme)
  }
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
