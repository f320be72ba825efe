/** Verifies proofs that another chain has executed a command (PROTOCOL.md B.8), against the blocks of the store. */
import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { leaf, TAG } from '#ground/chain/merkle.ts'
import { rootOf } from '#ground/chain/merkle-path.ts'
import type { OutputProof } from '#ground/chain/spv.ts'
import { isInSpvWindow } from '#ground/chain/spv-window.ts'
import { sha512t256 } from '../rules/digest.ts'
import type { Block, BlockStore } from '../store/block-store.ts'

export type ProofCheck = (proof: OutputProof) => boolean

/** Where a proof must hold. */
export interface VerifyingBlock {
  /** Chain of the new block. */
  readonly chain: number
  /** Parent of the new block, on that chain and on any branch; it must be in the store. */
  readonly parent: Block
  /** Oldest allowed root of the proof, in blocks below the parent; null allows any. */
  readonly window: number | null
  /** Whether a header (hash in base64url) is at or below the pin of a forked chain. */
  readonly isBelowPin?: ((root: string) => boolean) | undefined
  /** Whether a proof of blocks outside the store holds. */
  readonly isKnown?: ProofCheck | undefined
}

/** @returns why the proof does not hold, in the words of live nodes, or null if it holds */
export function outputProofFault(store: BlockStore, place: VerifyingBlock, proof: OutputProof): string | null {
  if (place.isKnown?.(proof)) return null
  const hashes = hashesOf(proof)
  // The forked node has these blocks, and no one here can look into them.
  if (place.isBelowPin?.(encodeBase64Url(hashes[hashes.length - 1]))) return null
  if (!isRooted(store, place, hashes)) {
    return 'spv verification failed: target header is not in the chain or is out of bounds'
  }
  if (!isAtPosition(store, proof, hashes)) {
    return `spv verification failed: the output is not at position ${proof.position} of its block`
  }
  return null
}

/** Hashes along the path, from the leaf of the output to the root. */
function hashesOf({ output, steps }: OutputProof): readonly [Uint8Array, ...Uint8Array[]] {
  const hashes: [Uint8Array, ...Uint8Array[]] = [leaf(TAG.transactionOutput, output, sha512t256)]
  for (const step of steps) hashes.push(rootOf(hashes[hashes.length - 1], [step], sha512t256))
  return hashes
}

/** Whether the root is the parent or one of its ancestors, and inside the window of the network. */
function isRooted(
  store: BlockStore,
  { chain, parent, window }: VerifyingBlock,
  hashes: readonly Uint8Array[],
): boolean {
  const root = store.get(hashes[hashes.length - 1], chain)
  if (root === undefined || !equalBytes(store.ancestor(parent, root.height).hash, root.hash)) return false
  // All chains of development networks begin at height 0.
  return isInSpvWindow(window, { rootHeight: root.height, parentHeight: parent.height, genesisHeight: 0 })
}

/**
 * Whether the block with the output has it at the position that the proof names. The path alone does not depend on the
 * position.
 */
function isAtPosition(store: BlockStore, { output, position }: OutputProof, hashes: readonly Uint8Array[]): boolean {
  for (const hash of hashes) {
    const block = store.get(hash)
    if (block === undefined) continue
    const { transactions } = block.payload
    // The output of the coinbase comes first.
    if (position < 1n || position > transactions.length) return false
    return equalBytes(transactions[Number(position) - 1].output, output)
  }
  return false
}
