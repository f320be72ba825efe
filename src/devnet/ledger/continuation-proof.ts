/** Verifies the proof of a continuation (PROTOCOL.md B.8): another chain has executed the previous step. */
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { jsonObjectIn, unlessMalformed } from '#ground/base/json.ts'
import { proofFromJson } from '#ground/chain/spv.ts'
import type { BlockStore } from '../store/block-store.ts'
import { outputProofFault, type VerifyingBlock } from './output-proof.ts'

/** A proof, and the block in which it must hold. */
interface ProofToVerify extends VerifyingBlock {
  /** Text of the proof in the continuation. */
  readonly proof: string
}

/** JSON text of the proven command result, which has a continuation; or the error in the words of live nodes. */
type VerifiedProof = { readonly output: Uint8Array } | { readonly fault: string }

const fault = (text: string): VerifiedProof => ({ fault: text })

/** Verifies a proof: it must hold at this place, and its command must have begun or continued a pact. */
export function verifyContinuationProof(store: BlockStore, { proof: text, ...place }: ProofToVerify): VerifiedProof {
  const json = unlessMalformed(() => decodeBase64Url(text, 'proof'))
  if (json === null) return fault('verifyCont: Invalid base64-encoded transaction output proof')
  const proof = unlessMalformed(() => proofFromJson(json))
  if (proof === null) return fault('verifyCont: Cannot decode transaction output proof')
  if (proof.chain !== place.chain) {
    return fault('verifyCont: cannot redeem continuation proof on wrong targget chain')
  }
  const refused = outputProofFault(store, place, proof)
  if (refused !== null) return fault(refused)
  if (!hasContinuation(proof.output)) return fault('verifyCont: No pact exec found in command result')
  return { output: proof.output }
}

function hasContinuation(output: Uint8Array): boolean {
  // Blocks of peers may hold any output.
  const { continuation } = jsonObjectIn(new TextDecoder().decode(output)) ?? {}
  return typeof continuation === 'object' && continuation !== null
}
