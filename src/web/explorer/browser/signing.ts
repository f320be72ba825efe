/** Builds and signs commands (PROTOCOL.md E.2) in the browser. */
import { blake2b } from '@noble/hashes/blake2.js'
import { encodeBase64Url } from '../../../base/bytes.ts'
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

/** A capability with its arguments as JSON. */
export interface DraftCapability {
  readonly name: string
  readonly args: readonly unknown[]
}

export interface DraftSigner {
  readonly signer: PageSigner
  /** Capabilities to which the signature is limited. None: it covers everything in the command. */
  readonly capabilities: readonly DraftCapability[]
}

type MessageData = Readonly<Record<string, unknown>>

/** Code to run, or a step of a pact. */
export type DraftPayload =
  | { readonly exec: { readonly code: string; readonly data: MessageData } }
  | {
      readonly cont: {
        readonly pactId: string
        readonly step: number
        readonly rollback: boolean
        readonly data: MessageData
        /** Proves the step before, if that ran on another chain. */
        readonly proof: string | null
      }
    }

export interface CommandDraft {
  readonly networkId: string
  readonly chain: number
  readonly payload: DraftPayload
  readonly signers: readonly DraftSigner[]
  readonly sender: string
  readonly gasLimit: number
  /** Coins per unit of gas, as decimal text. */
  readonly gasPrice: string
  readonly ttlSeconds: number
  /** Seconds since 1970. */
  readonly creationTime: number
  readonly nonce: string
}

export interface SignedDraft {
  readonly hash: string
  /** null for a signer whose signatures the node does not check. */
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  readonly cmd: string
}

/** A nonce that no other command has. */
export const freshNonce = () => `page ${new Date().toISOString()} ${crypto.getRandomValues(new Uint32Array(1))[0]}`

/** Title of a draft: its code, or its step. */
export function titleOf({ payload }: CommandDraft): string {
  if ('exec' in payload) return payload.exec.code
  const { pactId, step, rollback } = payload.cont
  return `${rollback ? 'rolls back' : 'runs'} step ${step} of ${pactId}`
}

/** JSON text of a command. The gas price keeps its spelling: no amount goes through a double. */
function commandText(draft: CommandDraft): string {
  const { networkId, chain, payload, signers, sender, gasLimit, gasPrice, ttlSeconds, creationTime, nonce } = draft
  const signerOf = ({ signer: { publicKey }, capabilities }: DraftSigner) => {
    const named = { pubKey: publicKey, scheme: 'ED25519' }
    return capabilities.length === 0 ? named : { ...named, clist: capabilities }
  }
  const meta =
    `{"gasLimit":${gasLimit},"gasPrice":${gasPrice},"sender":${JSON.stringify(sender)},"ttl":${ttlSeconds},` +
    `"creationTime":${creationTime},"chainId":"${chain}"}`
  const rest = JSON.stringify({ payload, nonce, signers: signers.map(signerOf), networkId })
  return `${rest.slice(0, -1)},"meta":${meta}}`
}

/** Hashes and signs a draft. Throws Error in a browser that cannot sign. */
export async function signedDraft(draft: CommandDraft): Promise<SignedDraft> {
  const cmd = commandText(draft)
  const hash = blake2b(new TextEncoder().encode(cmd), { dkLen: HASH_BYTES })
  const sigs = await Promise.all(
    draft.signers.map(async ({ signer: { sign } }) => (sign === null ? null : { sig: await sign(hash) })),
  )
  return { hash: encodeBase64Url(hash), sigs, cmd }
}
