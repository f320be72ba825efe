/**
 * Builds commands like the common clients (PROTOCOL.md E.2). A command has its JSON text, the BLAKE2b-256 hash of the
 * text, which is the request key, and one signature over the hash for each signer. Numbers keep their spelling: no
 * amount goes through a double. keys.ts signs, and so do the pages of a node.
 */
import { exactJsonText } from '#ground/base/json.ts'
import type { Capability } from './capability.ts'

/**
 * Seconds between the creation time of a command and now: clocks differ, and nodes refuse commands from their future.
 */
const PAST_SECONDS = 15

/** Action of a command: code with data, or the next step of a pact. `data` is JSON text, which is used as it is. */
export type Payload =
  | { readonly code: string; readonly data: string }
  | {
      readonly pactId: string
      readonly step: number
      readonly rollback: boolean
      /** Base64url text of a proof from another chain; null if the previous step was on this chain. */
      readonly proof: string | null
      readonly data: string
    }

/** A command before it is signed. Others may sign it: only the public keys of its signers are known. */
export interface OpenDraft {
  /** Name of the network: the command is valid on this one only. */
  readonly networkId: string
  readonly chain: number
  readonly payload: Payload
  /** Public keys of 64 lower-case hex digits, each with the capabilities to which its signature is limited. */
  readonly signers: readonly {
    readonly key: { readonly publicKey: string }
    readonly capabilities: readonly Capability[]
  }[]
  /** The account that pays for gas. */
  readonly sender: string
  readonly gasLimit: number
  /** Coins per unit of gas, as decimal text: `0.00000001`. */
  readonly gasPrice: string
  /** Seconds after `creationTime` in which a block may include it. */
  readonly ttl: number
  /** Seconds since 1970. */
  readonly creationTime: number
  /** Any text; it makes two otherwise equal commands different. */
  readonly nonce: string
}

/** A signed command in the form that nodes accept. */
export interface SignedCommand {
  /** The request key: 43 characters of base64url. */
  readonly hash: string
  readonly sigs: { readonly sig: string }[]
  readonly cmd: string
}

/** JSON text that is hashed and signed. Its properties are in the order of the common clients. */
export function commandText(draft: OpenDraft): string {
  const { networkId, chain, sender, gasLimit, gasPrice, ttl, creationTime, nonce } = draft
  const meta =
    `{"gasLimit":${gasLimit},"gasPrice":${gasPrice},"sender":${quoteJson(sender)},"ttl":${ttl},` +
    `"creationTime":${creationTime},"chainId":"${chain}"}`
  const signers = draft.signers.map(signerText).join(',')
  return (
    `{"payload":${payloadText(draft.payload)},"nonce":${quoteJson(nonce)},"signers":[${signers}],"meta":${meta},` +
    `"networkId":${quoteJson(networkId)}}`
  )
}

/** Creation time of a command, in seconds since 1970. */
export const creationTimeAt = (nowMs: number) => Math.floor(nowMs / 1000) - PAST_SECONDS

/** A nonce that no other command has. */
export const freshNonce = (nowMs: number) =>
  `newcut ${new Date(nowMs).toISOString()} ${Math.random().toString(36).slice(2, 10)}`

const quoteJson = (text: string) => JSON.stringify(text)

function payloadText(payload: Payload): string {
  if ('code' in payload) return `{"exec":{"code":${quoteJson(payload.code)},"data":${payload.data}}}`
  const { data, proof, pactId, step, rollback } = payload
  const id = `"pactId":${quoteJson(pactId)},"step":${step},"rollback":${rollback}`
  return `{"cont":{"data":${data},"proof":${JSON.stringify(proof)},${id}}}`
}

function signerText({ key, capabilities }: OpenDraft['signers'][number]): string {
  const clist = capabilities.map(({ name, args }) => exactJsonText({ name, args }))
  const list = clist.length === 0 ? '' : `,"clist":[${clist.join(',')}]`
  return `{"pubKey":"${key.publicKey}","scheme":"ED25519"${list}}`
}
