/** Verifies the proof of a continuation (PROTOCOL.md B.8): another chain has executed the previous step. */
import { decodeBase64Url, equalBytes } from '../../core/bytes.ts'
import { FormatError } from '../../core/errors.ts'
import { type OutputProof, proofFromJson, proofRoot } from '../../core/spv.ts'
import { isInSpvWindow } from '../../core/spv-window.ts'
import { sha512t256 } from '../rules/digest.ts'
import type { Block, BlockStore } from '../store/block-store.ts'

/** A proof, and the block in which it must hold. */
export interface ProofToVerify {
  /** Chain of the continuation. */
  readonly chain: number
  /** Parent of the new block, on that chain and on any branch; it must be in the store. */
  readonly parent: Block
  /** Oldest allowed root of the proof, in blocks below the parent; null allows any. */
  readonly window: number | null
  /** Text of the proof in the continuation. */
  readonly proof: string
}

/** JSON text of the proven command result, which has a continuation; or the error in the words of live nodes. */
export type VerifiedProof = { readonly output: Uint8Array } | { readonly fault: string }

const fault = (text: string): VerifiedProof => ({ fault: text })

/** Verifies that the root of the proof is the parent, or an ancestor of it inside the window of the network. */
export function verifyContinuationProof(
  store: BlockStore,
  { chain, parent, window, proof: text }: ProofToVerify,
): VerifiedProof {
  const json = unlessMalformed(() => decodeBase64Url(text, 'proof'))
  if (json === null) return fault('verifyCont: Invalid base64-encoded transaction output proof')
  const proof = unlessMalformed(() => proofFromJson(json))
  if (proof === null) return fault('verifyCont: Cannot decode transaction output proof')
  if (proof.chain !== chain) {
    return fault('verifyCont: cannot redeem continuation proof on wrong targget chain')
  }
  if (!isRooted(store, parent, proof, window)) {
    return fault('spv verification failed: target header is not in the chain or is out of bounds')
  }
  if (!hasContinuation(proof.output)) return fault('verifyCont: No pact exec found in command result')
  return { output: proof.output }
}

/** Whether the root of a proof is this block or one of its ancestors, and inside the window. */
function isRooted(store: BlockStore, parent: Block, proof: OutputProof, window: number | null): boolean {
  const root = store.get(proofRoot(proof, sha512t256), proof.chain)
  if (root === undefined || !equalBytes(store.ancestor(parent, root.height).hash, root.hash)) return false
  // All chains of development networks begin at height 0.
  return isInSpvWindow(window, { rootHeight: root.height, parentHeight: parent.height, genesisHeight: 0 })
}

function hasContinuation(output: Uint8Array): boolean {
  try {
    const result: unknown = JSON.parse(new TextDecoder().decode(output))
    if (typeof result !== 'object' || result === null || !('continuation' in result)) return false
    return typeof result.continuation === 'object' && result.continuation !== null
  } catch (error) {
    // Blocks of peers may hold any output.
    if (error instanceof SyntaxError) return false
    throw error
  }
}

function unlessMalformed<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}
