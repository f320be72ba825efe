/** A signed command and what it says. It is read once, at the door, and travels from there to pool, draft and ledger. */
import type { Decimal } from '../../contracts/values/decimal.ts'
import type { CapabilityToken, Value } from '../../contracts/values/value.ts'
import type { CommandSize } from '../../core/gas.ts'
import type { CommandCode } from './code.ts'

export interface Command<Meta = PublicMeta> {
  /** Request key: the hash of the command as in JSON. */
  readonly key: string
  /** 32 bytes. The reader does not check that they are the hash of `cmd`. */
  readonly hash: Uint8Array
  /** JSON text of what was signed. */
  readonly cmd: string
  /** One for each signer, as they came; null: one who did not sign. */
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  readonly signers: readonly CommandSigner[]
  /** Public key -> capabilities that its signature is limited to; none: it signs everything. */
  readonly grants: Grants
  /** The same by address, where a signer names one: so signers count before release 5.4.1 of the language. */
  readonly grantsByAddress: Grants
  /** null: it names no network. */
  readonly networkId: string | null
  readonly payload: Exec | Cont
  /** In the order of the command. */
  readonly verifiers: readonly VerifierUse[]
  readonly meta: Meta
  /** What the gas for its size depends on. */
  readonly size: CommandSize
}

/** Key or address -> capabilities. */
export type Grants = ReadonlyMap<string, readonly CapabilityToken[]>

export interface CommandSigner {
  readonly pubKey: string
  /** null: ED25519. */
  readonly scheme: string | null
  readonly addr: string | null
}

/** Runs code. */
export interface Exec {
  readonly kind: 'exec'
  readonly code: CommandCode
  readonly data: Value
}

/** Runs a step of a pact. */
export interface Cont {
  readonly kind: 'cont'
  readonly pactId: string
  readonly step: number
  readonly isRollback: boolean
  /** base64url; null: the step before ran on this chain. */
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

/** The nodes that a private command is for. */
export interface PrivateMeta {
  readonly address: { readonly from: string; readonly to: readonly string[] }
}

/** An element of `verifiers`. */
export interface VerifierUse {
  readonly name: string
  readonly proof: Value
  /** Its `clist`. */
  readonly granted: readonly CapabilityToken[]
}
