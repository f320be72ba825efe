/** Makes proofs that a block holds an output (PROTOCOL.md B.8): from the outputs through the header to other chains. */
import { blockLeaves, FIRST_ADJACENT_LEAF, PAYLOAD_LEAF } from './block-hash.ts'
import { encodeWork, type Header } from './header.ts'
import type { Digest } from './merkle.ts'
import { merkleSteps } from './merkle-path.ts'
import { outputLeaves } from './payload.ts'
import type { OutputProof } from './spv.ts'

/** What a proof of an output is made of. */
export interface ProvenOutput {
  /** Outputs of the block and the root over its transactions. */
  readonly payload: {
    readonly transactionsHash: Uint8Array
    readonly coinbase: Uint8Array
    readonly transactions: readonly { readonly output: Uint8Array }[]
  }
  /** Index of the transaction in the block. */
  readonly index: number
  /** The header of the block, then headers of which each names the one before as adjacent. The last one's hash is the root. */
  readonly headers: readonly Header[]
}

/** Makes a proof. Throws RangeError for an index that the block does not have and for headers that do not fit together. */
export function proveOutput({ payload, index, headers }: ProvenOutput, digest?: Digest): OutputProof {
  // The coinbase stands in front of the outputs of transactions.
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
