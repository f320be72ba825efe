/** Builds and signs commands (PROTOCOL.md E.2) with the public keys of the development accounts. */
import type { DevelopmentAccount } from '../../../core/development-accounts.ts'
import { blake2b256 } from './blake2b.ts'

/** A capability with its arguments as JSON. */
export interface DraftCapability {
  readonly name: string
  readonly args: readonly unknown[]
}

export interface DraftSigner {
  readonly account: DevelopmentAccount
  /** Capabilities to which the signature is limited. None: it covers everything in the command. */
  readonly capabilities: readonly DraftCapability[]
}

export interface CommandDraft {
  readonly networkId: string
  readonly chain: number
  readonly code: string
  readonly data: Readonly<Record<string, unknown>>
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
  readonly sigs: readonly { readonly sig: string }[]
  readonly cmd: string
}

/** JSON text of a command. The gas price keeps its spelling: no amount goes through a double. */
function commandText(draft: CommandDraft): string {
  const { networkId, chain, code, data, signers, sender, gasLimit, gasPrice, ttlSeconds, creationTime, nonce } = draft
  const signer = ({ account, capabilities }: DraftSigner) => {
    const named = { pubKey: account.publicKey, scheme: 'ED25519' }
    return capabilities.length === 0 ? named : { ...named, clist: capabilities }
  }
  const meta =
    `{"gasLimit":${gasLimit},"gasPrice":${gasPrice},"sender":${JSON.stringify(sender)},"ttl":${ttlSeconds},` +
    `"creationTime":${creationTime},"chainId":"${chain}"}`
  const rest = JSON.stringify({ payload: { exec: { code, data } }, nonce, signers: signers.map(signer), networkId })
  return `${rest.slice(0, -1)},"meta":${meta}}`
}

/** Hashes and signs a draft. Throws Error in a browser that cannot sign. */
export async function signedDraft(draft: CommandDraft): Promise<SignedDraft> {
  const cmd = commandText(draft)
  const hash = blake2b256(new TextEncoder().encode(cmd))
  const sigs = await Promise.all(draft.signers.map(({ account }) => signature(account.secretKey, hash)))
  return { hash: base64Url(hash), sigs: sigs.map((sig) => ({ sig })), cmd }
}

/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410 section 7). */
const PKCS8 = '302e020100300506032b657004220420'

async function signature(secretKey: string, hash: Uint8Array<ArrayBuffer>): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) {
    throw new Error(
      'this page signs only at localhost, 127.0.0.1 or [::1]: browsers allow it nowhere else without https',
    )
  }
  try {
    const key = await crypto.subtle.importKey('pkcs8', bytesOf(PKCS8 + secretKey), 'Ed25519', false, ['sign'])
    return hexOf(new Uint8Array(await crypto.subtle.sign('Ed25519', key, hash)))
  } catch (error) {
    throw new Error('this browser cannot sign with Ed25519: use Chrome 137, Firefox 130, Safari 17 or newer', {
      cause: error,
    })
  }
}

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
const hexOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
