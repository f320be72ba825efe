/**
 * Signed commands and their contents. A command is parsed once on arrival; mempool, draft and ledger share the object.
 */

import type { CommandSize } from '#ground/chain/gas.ts'
import type { Decimal } from '#language/contracts/values/decimal.ts'
import type { CapabilityToken, Value } from '#language/contracts/values/value.ts'
import type { CommandCode } from './code.ts'

export interface Command<Meta = PublicMeta> {
  /** Request key: hash of the command, as in JSON. */
  readonly key: string
  /** 32 bytes, as sent. The reader does not check that they are the hash of `cmd`. */
  readonly hash: Uint8Array
  /** JSON text that the signatures cover. */
  readonly cmd: string
  /** One entry for each signer, in the order received; null for a signer without a signature. */
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  readonly signers: readonly CommandSigner[]
  /** Public key -> capabilities to which its signature is limited. An empty list means no limit. */
  readonly grants: Grants
  /**
   * Like `grants`, by address where the signer names one. Releases of the language before 5.4.1 count signers this way.
   */
  readonly grantsByAddress: Grants
  /** null if the command names no network. */
  readonly networkId: string | null
  readonly payload: Exec | Cont
  /** In the order of the command. */
  readonly verifiers: readonly VerifierUse[]
  readonly meta: Meta
  /** Input of the gas charge for the size of the command. */
  readonly size: CommandSize
}

/** Key or address -> capabilities. */
export type Grants = ReadonlyMap<string, readonly CapabilityToken[]>

export interface CommandSigner {
  readonly pubKey: string
  /** null means ED25519. */
  readonly scheme: string | null
  readonly addr: string | null
}

/** Runs contract code. */
export interface Exec {
  readonly kind: 'exec'
  readonly code: CommandCode
  readonly data: Value
}

/** Continues a pact: runs one of its steps. */
export interface Cont {
  readonly kind: 'cont'
  readonly pactId: string
  readonly step: number
  readonly isRollback: boolean
  /** base64url; null if the previous step ran on this chain. */
  readonly proof: string | null
  readonly data: Value
}

export interface PublicMeta {
  readonly chainId: string
  readonly sender: string
  readonly gasLimit: number
  readonly gasPrice: Decimal
  /** Seconds. */
  readonly ttl: number
  /** Seconds since the UNIX epoch. */
  readonly creationTime: number
}

/** Names the nodes that execute a private command. */
export interface PrivateMeta {
  readonly address: { readonly from: string; readonly to: readonly string[] }
}

/** An element of `verifiers`. */
export interface VerifierUse {
  readonly name: string
  readonly proof: Value
  /** Capabilities of its `clist`. */
  readonly granted: readonly CapabilityToken[]
}
