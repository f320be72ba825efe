/** Rewards of a network whose coin contract has them in a function. */
import { coinsIn, type RewardCall } from '#ground/chain/coinbase.ts'
import type { NodeClient } from '../node/client.ts'
import type { CallOptions } from '../node/requests.ts'
import { evaluateOnNode } from './ask.ts'

/**
 * Runs the code of a reward on a node, as of the block: after its parent. Without a block it runs at the head.
 * @param block its chain also runs a call without a chain
 * @returns coins as a decimal number, or null if the code fails or returns no amount
 * @throws errors of NodeClient, such as for a block deeper than the node can go back
 */
export async function fetchReward(
  node: Pick<NodeClient, 'info' | 'network' | 'local' | 'cut'>,
  { code, chain: fixed }: RewardCall,
  block: { readonly chain: number; readonly height?: number },
  options: CallOptions = {},
): Promise<string | null> {
  const chain = fixed ?? block.chain
  const rewindDepth = block.height === undefined ? 0 : await depthOfParent(node, chain, block.height, options)
  const { result } = await evaluateOnNode(node, chain, { code, rewindDepth }, options)
  return result.status === 'success' ? coinsIn(result.data) : null
}

async function depthOfParent(
  node: Pick<NodeClient, 'cut'>,
  chain: number,
  height: number,
  options: CallOptions,
): Promise<number> {
  const head = (await node.cut(options)).hashes[chain]?.height ?? height
  return Math.max(0, head - height + 1)
}
