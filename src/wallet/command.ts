/**
 * Signed commands, built as clients build them (PROTOCOL.md E.2): the JSON text, its BLAKE2b-256 hash, which is the
 * request key, and one signature over the hash for each signer. Numbers stand in the text as they were given: no amount
 * goes through a double.
 */
import { blake2b256 } from '../core/blake2b.ts'
import { encodeBase64Url } from '../core/bytes.ts'
import type { Capability } from './capability.ts'
import type { SigningKey } from './keys.ts'

/** What a command does: code with data, or the next step of a pact. `data` is JSON text, which is taken as it is. */
export type Payload =
  | { readonly code: string; readonly data: string }
  | {
      readonly pactId: string
      readonly step: number
      readonly rollback: boolean
      /** Base64url text of a proof from another chain; null: the step before was on this chain. */
      readonly proof: string | null
      readonly data: string
    }

/** Who signs, and for what. No capabilities: the signature holds for everything in the command. */
export interface Signer {
  readonly key: SigningKey
  readonly capabilities: readonly Capability[]
}

/** A command before it is signed. */
export interface Draft {
  /** Name of the network: a command holds on this one only. */
  readonly networkId: string
  readonly chain: number
  readonly payload: Payload
  readonly signers: readonly Signer[]
  /** The account that pays for gas. */
  readonly sender: string
  readonly gasLimit: number
  /** Coins for a unit of gas, as decimal text: `0.00000001`. */
  readonly gasPrice: string
  /** Seconds after `creationTime` until which a block may take it. */
  readonly ttl: number
  /** Seconds since 1970. */
  readonly creationTime: number
  /** Any text; two commands that differ in nothing else are different by it. */
  readonly nonce: string
}

/** A signed command as nodes take it. */
export interface SignedCommand {
  /** The request key: 43 characters of base64url. */
  readonly hash: string
  readonly sigs: { readonly sig: string }[]
  readonly cmd: string
}

/** The JSON text that is hashed and signed. Its properties stand in the order in which the common clients write them. */
export function commandText(draft: Draft): string {
  const { networkId, chain, sender, gasLimit, gasPrice, ttl, creationTime, nonce } = draft
  const meta =
    `{"gasLimit":${gasLimit},"gasPrice":${gasPrice},"sender":${quoted(sender)},"ttl":${ttl},` +
    `"creationTime":${creationTime},"chainId":"${chain}"}`
  const signers = draft.signers.map(signerText).join(',')
  return (
    `{"payload":${payloadText(draft.payload)},"nonce":${quoted(nonce)},"signers":[${signers}],"meta":${meta},` +
    `"networkId":${quoted(networkId)}}`
  )
}

/** Hashes and signs a draft. */
export function signedCommand(draft: Draft): SignedCommand {
  const cmd = commandText(draft)
  const hash = blake2b256(new TextEncoder().encode(cmd))
  return { hash: encodeBase64Url(hash), sigs: draft.signers.map(({ key }) => ({ sig: key.sign(hash) })), cmd }
}

const quoted = (text: string) => JSON.stringify(text)

function payloadText(payload: Payload): string {
  if ('code' in payload) return `{"exec":{"code":${quoted(payload.code)},"data":${payload.data}}}`
  const { data, proof, pactId, step, rollback } = payload
  const id = `"pactId":${quoted(pactId)},"step":${step},"rollback":${rollback}`
  return `{"cont":{"data":${data},"proof":${JSON.stringify(proof)},${id}}}`
}

function signerText({ key, capabilities }: Signer): string {
  const clist = capabilities.map(({ name, args }) => JSON.stringify({ name, args }))
  const list = clist.length === 0 ? '' : `,"clist":[${clist.join(',')}]`
  return `{"pubKey":"${key.publicKey}","scheme":"ED25519"${list}}`
}
