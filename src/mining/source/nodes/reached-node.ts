/** A node among several that has answered: its mining calls, its network and its cut. */

import type { NodeClient } from '#client/node/client.ts'
import { NodeRefusal } from '#client/node/errors.ts'
import { decodeBase64Url, readU256LE } from '#ground/base/bytes.ts'
import type { CutHeads, MiningNode } from '../node/mining-node.ts'
import type { NamedBlock } from './continuity.ts'
import { giveBlocks } from './give-blocks.ts'
import type { CutWeight } from './lag.ts'

/** All calls throw NewcutError, or the reason of the signal. */
export interface ReachedNode {
  readonly client: NodeClient
  readonly node: MiningNode
  /** Software version, or null if the node does not report it. */
  readonly version: string | null
  /** Requests its cut. */
  heads(signal: AbortSignal): Promise<ReportedCut>
  /** Whether it has this block, on its chain or beside it. */
  knows(block: NamedBlock, signal: AbortSignal): Promise<boolean>
  /** Requests its network, because another node may answer at the address. */
  network(signal: AbortSignal): Promise<NodeNetwork>
  /**
   * Gives another node the blocks that it lacks.
   * @returns false if it takes none
   */
  giveTo(other: ReachedNode): Promise<boolean>
  close(): Promise<void>
}

/** A cut as a node reports it. */
export interface ReportedCut extends CutWeight {
  readonly heads: CutHeads
}

/** Identifies a network. */
export interface NodeNetwork {
  /** For people: `mainnet01 (20 chains)`. */
  readonly name: string
  /** Equal for nodes of one network: name, chains, graphs, and genesis block of the first chain. */
  readonly identity: string
}

/** Joins a client with the mining calls of its node. */
export function reachedNodeOf(client: NodeClient, node: MiningNode): ReachedNode {
  return {
    client,
    node,
    version: client.info.nodePackageVersion ?? null,
    heads: async (signal) => {
      const { hashes, weight } = await client.cut({ signal })
      const heads = new Map(Object.entries(hashes).map(([chain, head]) => [Number(chain), head]))
      const heights = new Map([...heads].map(([chain, { height }]) => [chain, height]))
      return { heads, heights, weight: readU256LE(decodeBase64Url(weight), 0) }
    },
    knows: (block, signal) => isKnown(client, block, signal),
    network: (signal) => askNetwork(client, signal),
    giveTo: (other) => giveBlocks(client, other.client),
    close: () => client.close(),
  }
}

/** Only the node itself, and no proxy, can deny a block or chain. */
async function isKnown(client: NodeClient, { chain, hash }: NamedBlock, signal: AbortSignal): Promise<boolean> {
  try {
    await client.header(chain, hash, { signal })
    return true
  } catch (error) {
    if (error instanceof NodeRefusal && error.isNodesOwn && error.status === 404) return false
    throw error
  }
}

/** Requests the network of a node. */
export async function askNetwork(client: NodeClient, signal: AbortSignal): Promise<NodeNetwork> {
  const { nodeVersion, nodeChains, nodeGraphHistory } = await client.nodeInfo({ signal })
  const chains = nodeChains.map(Number).sort((a, b) => a - b)
  // Paths contain the network name, so a node of another network has no genesis block for us.
  const isNamedAlike = nodeVersion === client.info.nodeVersion
  const first = isNamedAlike ? await client.hashes(chains[0], { maxheight: 0, limit: 1, signal }).page() : null
  // The order of graphs and of neighbours has no meaning (PROTOCOL.md E.1).
  const graphs = nodeGraphHistory
    .map(([from, graph]) => [from, graph.map(([chain, others]) => [chain, others.toSorted()]).sort(byFirst)] as const)
    .sort(byFirst)
  return {
    name: `${nodeVersion} (${chains.length} chains)`,
    identity: JSON.stringify([nodeVersion, chains, graphs, first?.items]),
  }
}

const byFirst = ([a]: readonly unknown[], [b]: readonly unknown[]) => Number(a) - Number(b)
