/** Capabilities that a transaction has: granted ones, and installed ones. */
import type { CapabilityToken, Value } from '../values/value.ts'
import type { Message } from './environment.ts'

/**
 * A granted capability with the capabilities composed into it.
 *
 * 1. Code acquires a capability with `with-capability`, or composes it into another one.
 * 2. A managed capability must be installed: by code, or by the list of a signature.
 * 3. The body of its defcap runs. Guards see it as evaluated meanwhile.
 * 4. The manager of a managed one decides on the amount that is left.
 * 5. It is granted while the body of `with-capability` runs, or as long as the capability around it.
 */
export interface GrantedCapability {
  token: CapabilityToken
  readonly composed: CapabilityToken[]
}

/** An installed managed capability and its remaining amount. A change makes a new entry. */
export interface InstalledCapability {
  readonly fun: string
  /** All arguments except the managed one. `token` is the token as installed. */
  readonly fixed: readonly Value[]
  readonly token: CapabilityToken
  /** Remaining value of the managed argument; undefined for a capability that can be used once. */
  readonly left: Value | undefined
  readonly isUsed: boolean
}

/** The capabilities that signers list, by name. A signature may list many. */
export interface SignerCapabilities {
  readonly signers: Message['signers']
  readonly byName: ReadonlyMap<string, readonly CapabilityToken[]>
}
