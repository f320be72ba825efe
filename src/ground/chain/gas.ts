/** Gas of commands and blocks (PROTOCOL.md E.2). */
import { type Condition, valueAt } from './fork.ts'

/**
 * Basis of the gas charged for a command's size, before its code runs.
 *
 * `pre31`: bytes without the proof of a continuation; `post31`: with the proof; `post32`: with signatures and signers
 * too. `post33`, of no live network so far, has a price for signers with SLH-DSA.
 */
export type GasModel = 'pre31' | 'post31' | 'post32' | 'post33'

/** Measures that the size gas depends on. */
export interface CommandSize {
  /** UTF-8 bytes of `cmd`, without the proof of a continuation. */
  readonly bytes: number
  /** UTF-8 bytes of the text `proof` of a continuation; 0 without one. */
  readonly proofBytes: number
  /** UTF-8 bytes of all elements of `sigs`, each encoded without spaces. */
  readonly signatureBytes: number
  /** Number of signers with this scheme. */
  readonly ed25519Signers: number
  readonly webAuthnSigners: number
  /** Gas that `post33` charges for the signers with SLH-DSA. Default: 0. */
  readonly slhDsaGas?: number
}

/** Prices of a signer in `post32` and later models (PROTOCOL.md E.2). */
const ED25519_GAS = 21n
const WEBAUTHN_GAS = 526n
/** Gas that `post32` charges for a signer with SLH-DSA: no gas limit is enough. */
export const NO_PRICE = 2 ** 64
/** Bytes for one unit of the linear term, and those from which the steep term counts (PROTOCOL.md E.2). */
const LINEAR_BYTES = 100n
const STEEP_BYTES_TO_7 = 51_200n ** 7n

/**
 * Gas for the size of a command: ceil(c + (c / 512)^7) with c = bytes / 100, plus a fixed amount per signer.
 *
 * Uses exact integers: doubles yield one too little for 100 and 200 bytes.
 */
export function sizeGas(size: CommandSize, model: GasModel): number {
  const { bytes, proofBytes, signatureBytes, ed25519Signers, webAuthnSigners, slhDsaGas = 0 } = size
  const proof = model === 'pre31' ? 0 : proofBytes
  const hasSigners = model === 'post32' || model === 'post33'
  const slhDsa = model === 'post33' || slhDsaGas === 0 ? BigInt(slhDsaGas) : BigInt(NO_PRICE)
  const [signatures, signers] = hasSigners
    ? [signatureBytes, ED25519_GAS * BigInt(ed25519Signers) + WEBAUTHN_GAS * BigInt(webAuthnSigners) + slhDsa]
    : [0, 0n]
  const b = BigInt(bytes + proof + signatures)
  const numerator = b * STEEP_BYTES_TO_7 + LINEAR_BYTES * b ** 7n
  const denominator = LINEAR_BYTES * STEEP_BYTES_TO_7
  return Number((numerator + denominator - 1n) / denominator + signers)
}

/**
 * Gas model that nodes apply to a block at `height`. Preflight of live nodes looks one height further, so it changes one
 * block earlier.
 *
 * Nodes of a development network charge by their release; this function assumes 3.2.
 * @param forkNumberOfParent fork number in the header of the parent
 * @throws RangeError if the network's models are unknown
 */
export function gasModelAt(
  network: {
    readonly name: string
    readonly gasModels: readonly { readonly from: Condition; readonly model: GasModel }[]
  },
  height: number,
  forkNumberOfParent: number,
): GasModel {
  const entry = valueAt(network.gasModels, height, forkNumberOfParent)
  if (entry !== undefined) return entry.model
  throw new RangeError(`network ${JSON.stringify(network.name)}: its gas model at height ${height} is not known`)
}
