/** Signs commands (PROTOCOL.md E.2) in the browser. */
import { blake2b } from '@noble/hashes/blake2.js'
import type { Capability } from '#client/wallet/capability.ts'
import { commandText, type OpenDraft } from '#client/wallet/command.ts'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { BrowserKey } from './ed25519.ts'

/** Bytes of the hash of a command. */
const HASH_BYTES = 32

/** Who may sign in this page. */
export interface PageSigner {
  /** Account name, or `k:` and the public key. No two signers of a page share it. */
  readonly name: string
  readonly publicKey: string
  /** Where it comes from, in words. */
  readonly group: string
  /** null to leave the signature out. */
  readonly sign: BrowserKey['sign'] | null
}

/** A signature of a command, and the capabilities to which it is limited. None: it covers everything in the command. */
export interface DraftSigner {
  readonly key: PageSigner
  readonly capabilities: readonly Capability[]
}

export interface CommandDraft extends OpenDraft {
  readonly signers: readonly DraftSigner[]
}

export interface SignedDraft {
  readonly hash: string
  /** null for a signer whose signatures the node does not check. */
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  readonly cmd: string
}

/** A nonce that no other command has. */
export const pageNonce = () => `page ${new Date().toISOString()} ${crypto.getRandomValues(new Uint32Array(1))[0]}`

/** Title of a draft: its code, or its step. */
export function titleOf({ payload }: CommandDraft): string {
  if ('code' in payload) return payload.code
  const { pactId, step, rollback } = payload
  return `${rollback ? 'rolls back' : 'runs'} step ${step} of ${pactId}`
}

/**
 * Hashes and signs a draft.
 * @throws Error in a browser that cannot sign
 */
export async function signedDraft(draft: CommandDraft): Promise<SignedDraft> {
  const cmd = commandText(draft)
  const hash = blake2b(new TextEncoder().encode(cmd), { dkLen: HASH_BYTES })
  const sigs = await Promise.all(
    draft.signers.map(async ({ key: { sign } }) => (sign === null ? null : { sig: await sign(hash) })),
  )
  return { hash: encodeBase64Url(hash), sigs, cmd }
}
