/** Measures commands, for the gas charged by size (PROTOCOL.md E.2). */
import { jsonObjectIn } from '../base/json.ts'
import type { CommandSize } from './gas.ts'
import { slhDsaSchemes } from './slh-dsa.ts'

/** The measured parts of a command. */
interface MeasuredCommand {
  /** JSON text that was signed. */
  readonly cmd: string
  /** Text `proof` of a continuation, or null. */
  readonly proof: string | null
  /** Signatures as received; null for a signer who did not sign. */
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  /** Scheme of each signer; a missing one means ED25519. */
  readonly schemes: readonly (string | null | undefined)[]
}

export function commandSizeOf({ cmd, proof, sigs, schemes }: MeasuredCommand): CommandSize {
  const proofBytes = utf8Length(proof ?? '')
  const signers = (name: string) => schemes.filter((scheme) => (scheme ?? 'ED25519') === name).length
  return {
    bytes: utf8Length(cmd) - proofBytes,
    proofBytes,
    signatureBytes: sigs.reduce((sum, each) => sum + (each === null ? 0 : signatureBytesOf(each.sig)), 0),
    ed25519Signers: signers('ED25519'),
    webAuthnSigners: signers('WebAuthn'),
    slhDsaGas: schemes.reduce((sum, scheme) => sum + (slhDsaSchemes.get(scheme ?? '')?.gas ?? 0), 0),
  }
}

/** UTF-8 bytes of an element of `sigs`, re-encoded without spaces and with `sig` as the only field. */
function signatureBytesOf(sig: string): number {
  const parts = webAuthnPartsOf(sig)
  return utf8Length(JSON.stringify({ sig: parts === null ? sig : JSON.stringify(parts) }))
}

/** The parts of a WebAuthn signature, each in base64. */
interface WebAuthnParts {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

/**
 * Parses a WebAuthn signature. The fields are in the order in which nodes write them.
 * @returns null if the signature is not a WebAuthn JSON object
 */
export function webAuthnPartsOf(sig: string): WebAuthnParts | null {
  // Skip JSON parsing for hex signatures, the usual kind.
  if (!/^\s*\{/.test(sig)) return null
  const { authenticatorData, clientDataJSON, signature } = jsonObjectIn(sig) ?? {}
  const areTexts = [authenticatorData, clientDataJSON, signature].every((part) => typeof part === 'string')
  return areTexts ? ({ authenticatorData, clientDataJSON, signature } as WebAuthnParts) : null
}

const encoder = new TextEncoder()
const utf8Length = (text: string) => encoder.encode(text).length
