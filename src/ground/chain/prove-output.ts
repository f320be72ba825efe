/**
 * Creates proofs that a block contains an output (PROTOCOL.md B.8): from the outputs through the header to other
 * chains.
 */
import { blockLeaves, FIRST_ADJACENT_LEAF, PAYLOAD_LEAF } from './block-hash.ts'
import { encodeWork, type Header } from './header.ts'
import type { Digest } from './merkle.ts'
import { merkleSteps } from './merkle-path.ts'
import { outputLeaves } from './payload.ts'
import type { OutputProof } from './spv.ts'

/** Data for a proof of an output. */
interface ProvenOutput {
  /** Outputs of the block, and the Merkle root over its transactions. */
  readonly payload: {
    readonly transactionsHash: Uint8Array
    readonly coinbase: Uint8Array
    readonly transactions: readonly { readonly output: Uint8Array }[]
  }
  /** Index of the transaction in the block. */
  readonly index: number
  /**
   * Header of the block, then headers that each name the previous one as adjacent. The hash of the last one is the
   * root.
   */
  readonly headers: readonly Header[]
}

/**
 * Creates a proof.
 * @throws RangeError if the block has no such transaction, or if consecutive headers are not adjacent
 */
export function proveOutput({ payload, index, headers }: ProvenOutput, digest?: Digest): OutputProof {
  // The coinbase output precedes the transaction outputs.
  const position = index + 1
  const outputs = payload.transactions.map(({ output }) => output)
  const [own, ...hops] = headers
  const steps = [
    ...merkleSteps(outputLeaves(payload.coinbase, outputs, digest), position, digest),
    { side: 'left', sibling: payload.transactionsHash } as const,
    ...merkleSteps(blockLeaves(encodeWork(own), digest), PAYLOAD_LEAF, digest),
  ]
  let before = own
  for (const header of hops) {
    const place = [...header.adjacents.keys()].indexOf(before.chainId)
    if (place < 0) throw new RangeError(`chain ${header.chainId} is not adjacent to chain ${before.chainId}`)
    steps.push(...merkleSteps(blockLeaves(encodeWork(header), digest), FIRST_ADJACENT_LEAF + place, digest))
    before = header
  }
  return { chain: before.chainId, position: BigInt(position), steps, output: outputs[index] }
}
