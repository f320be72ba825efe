/** How large a command is, for the gas that its size costs (PROTOCOL.md E.2). */
import type { CommandSize } from './gas.ts'

/** The parts of a command that are measured. */
export interface MeasuredCommand {
  /** JSON text of what was signed. */
  readonly cmd: string
  /** The text `proof` of a continuation; null without one. */
  readonly proof: string | null
  /** As they came. null: a signer who did not sign. */
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  /** The scheme of each signer; none is ED25519. */
  readonly schemes: readonly (string | null | undefined)[]
}

/** Measures a command. */
export function commandSizeOf({ cmd, proof, sigs, schemes }: MeasuredCommand): CommandSize {
  const proofBytes = utf8Length(proof ?? '')
  const signers = (name: string) => schemes.filter((scheme) => (scheme ?? 'ED25519') === name).length
  return {
    bytes: utf8Length(cmd) - proofBytes,
    proofBytes,
    signatureBytes: sigs.reduce((sum, each) => sum + (each === null ? 0 : signatureBytesOf(each.sig)), 0),
    ed25519Signers: signers('ED25519'),
    webAuthnSigners: signers('WebAuthn'),
  }
}

/** UTF-8 bytes of an element of `sigs`, written anew without spaces and with `sig` alone. */
function signatureBytesOf(sig: string): number {
  const parts = webAuthnPartsOf(sig)
  return utf8Length(JSON.stringify({ sig: parts === null ? sig : JSON.stringify(parts) }))
}

/** The three parts of a WebAuthn signature, each in base64. */
export interface WebAuthnParts {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

/** The parts of a signature that is JSON text, in the order that nodes write them; null: it is none. */
export function webAuthnPartsOf(sig: string): WebAuthnParts | null {
  // All others are hex: most texts are not parsed.
  if (!/^\s*\{/.test(sig)) return null
  const { authenticatorData, clientDataJSON, signature } = jsonObject(sig) ?? {}
  const areTexts = [authenticatorData, clientDataJSON, signature].every((part) => typeof part === 'string')
  return areTexts ? ({ authenticatorData, clientDataJSON, signature } as WebAuthnParts) : null
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    // It begins with a brace.
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    // Not JSON: the caller takes it for another kind of signature.
    return null
  }
}

const encoder = new TextEncoder()
const utf8Length = (text: string) => encoder.encode(text).length
