/** Creates proofs of outputs for other chains (PROTOCOL.md B.8), from the current branches. */
import { equalBytes } from '#ground/base/bytes.ts'
import { shortestPath } from '#ground/chain/graph.ts'
import type { Header } from '#ground/chain/header.ts'
import { graphAt } from '#ground/chain/network.ts'
import { proveOutput } from '#ground/chain/prove-output.ts'
import { encodeProof } from '#ground/chain/spv.ts'
import type { Chains } from '../rules/chains.ts'
import { sha512t256 } from '../rules/digest.ts'
import type { Block } from '../store/block-store.ts'

/** The output to prove, and the target chain. */
interface SpvRequest {
  readonly chain: number
  /** Request key of the transaction with the output. */
  readonly requestKey: string
  /** Block that holds the transaction. */
  readonly block: Block
  /** Position of the transaction in the block, from 0. */
  readonly index: number
  readonly targetChain: number
}

/** A proof as text, or why there is none (yet), in the words of live nodes. */
type SpvAnswer = { readonly proof: string } | { readonly fault: string }

const unreachable = (why: string): SpvAnswer => ({ fault: `SPV target not reachable: ${why}` })
const TOO_YOUNG = 'target chain not reachable. Chainweb instance is too young'
const NO_WAY = "Target of SPV proof can't be reached from the source transaction"

/** A block whose outputs are to be proven, and the chain that is to know them. */
interface ProofPath {
  readonly block: Pick<Block, 'chain' | 'height'>
  readonly targetChain: number
}

/** Height of the block of the target chain that proves a block; null if the network has no such chain. */
export function proofHeight({ network, cut }: Chains, { block, targetChain }: ProofPath): number | null {
  const path = cut.has(targetChain) ? shortestPath(graphAt(network, block.height), block.chain, targetChain) : null
  return path === null ? null : block.height + path.length - 1
}

/**
 * Proves the output of a transaction to the target chain. The root is a block of the target chain; its height is that
 * of the transaction plus the distance of the two chains.
 * @throws RangeError if the block does not hold the transaction
 */
export function spvProof(chains: Chains, { chain, requestKey, block, index, targetChain }: SpvRequest): SpvAnswer {
  const { payload } = block
  if (block.chain !== chain || payload.transactions[index] === undefined) {
    throw new RangeError(`block ${block.id} does not hold ${requestKey} at place ${index} of chain ${chain}`)
  }
  const path = shortestPath(graphAt(chains.network, block.height), chain, targetChain)
  const head = chains.cut.get(targetChain)
  if (path === null || head === undefined) return unreachable(NO_WAY)
  const height = block.height + path.length - 1
  if (head.height < height) return unreachable(TOO_YOUNG)
  const headers = headersAlong(chains, path, chains.ancestor(head.hash, height))
  // An orphaned block has no path to the current branch.
  if (!equalBytes(headers[0].hash, block.hash)) return unreachable(NO_WAY)
  return { proof: encodeProof(proveOutput({ payload, index, headers }, sha512t256)) }
}

/** Headers along a path of chains up to `root`; each is an adjacent parent of the next. */
function headersAlong(chains: Chains, path: readonly number[], root: Header): Header[] {
  const headers = [root]
  for (const chain of path.slice(0, -1).reverse()) {
    const hash = headers[0].adjacents.get(chain)
    const block = hash === undefined ? undefined : chains.store.get(hash, chain)
    if (block === undefined) throw new Error(`header at height ${headers[0].height} names no block of chain ${chain}`)
    headers.unshift(block.header)
  }
  return headers
}
