/** Verifies proofs for the native `verify-spv`: it returns the result of a command of another chain. */
import { fieldOf, parseExactJson, unlessMalformed } from '#ground/base/json.ts'
import { type OutputProof, proofFromJson } from '#ground/chain/spv.ts'
import type { ObjectValue, Value } from '#language/contracts/values/value.ts'
import { valueFromJson, valueToJson } from '#language/contracts/values/wire.ts'
import type { BlockStore } from '../store/block-store.ts'
import { outputProofFault, type VerifyingBlock } from './output-proof.ts'

/** The only type of proofs in language 5. */
const TYPE = 'TXOUT'

/** Result of the proven command, or why the proof does not hold, in the words of live nodes. */
export type ProvenResult = { readonly value: ObjectValue } | { readonly fault: string }

const decoder = new TextDecoder()

/**
 * @param type kind of the proof
 * @param object fields of the proof, as in the JSON text that `spv` of a node returns
 */
export function verifySpv(store: BlockStore, place: VerifyingBlock, type: string, object: ObjectValue): ProvenResult {
  if (type === 'ETH') return { fault: 'verifySPV: ETH proof type is not yet supported in Pact5.' }
  if (type !== TYPE) return { fault: `Unsupported SPV type: ${type}` }
  const proof = unlessMalformed(() => proofFromJson(new TextEncoder().encode(valueToJson(object))))
  if (proof === null) return { fault: 'pactObjectOutputProof: Failed to decode proof object' }
  if (proof.chain !== place.chain) return { fault: 'verifySPV: cannot redeem spv proof on wrong target chain' }
  const fault = outputProofFault(store, place, proof)
  return fault === null ? resultOf(proof) : { fault }
}

function resultOf({ output }: OutputProof): ProvenResult {
  const undecodable = { fault: 'verifySPV: Unable to decode SPV transaction output' }
  const json = unlessMalformed(() => parseExactJson(decoder.decode(output)))
  const result = fieldOf(json, 'result')
  const status = fieldOf(result, 'status')
  if (status === 'failure') return { fault: 'verifySPV: Failed command result in tx output proof' }
  const data = fieldOf(result, 'data')
  if (status !== 'success' || data === undefined) return undecodable
  const value = unlessMalformed((): Value => valueFromJson(data))
  if (value === null) return undecodable
  if (!(value instanceof Map)) return { fault: 'verifySPV: command result not an object' }
  return { value: value as ObjectValue }
}
