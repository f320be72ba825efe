/** A node among several, once it answers: its mining interface, its network and its cut. */
import { decodeBase64Url, readU256LE } from '../../core/bytes.ts'
import type { NodeClient } from '../../node/client.ts'
import type { MiningNode } from '../node/mining-node.ts'
import type { Heads } from './choose.ts'
import { giveBlocks } from './give-blocks.ts'

/** All calls throw NewcutError, or the signal's reason. */
export interface ReachedNode {
  readonly client: NodeClient
  readonly node: MiningNode
  /** Of its software; null: it does not say. */
  readonly version: string | null
  /** Its cut now. */
  heads(signal: AbortSignal): Promise<Heads>
  /** Its network now: behind an address another node may come up. */
  network(signal: AbortSignal): Promise<NodeNetwork>
  /** Gives another node the blocks that this one has and it lacks. False: it takes none. */
  giveTo(other: ReachedNode): Promise<boolean>
  close(): Promise<void>
}

/** What nodes of one network have in common. */
export interface NodeNetwork {
  /** For people: `mainnet01 (20 chains)`. */
  readonly name: string
  /** Equal for nodes of one network: name, chains, graphs, and the first block of the first chain. */
  readonly identity: string
}

/** A node behind a client. */
export function reachedNodeOf(client: NodeClient, node: MiningNode): ReachedNode {
  return {
    client,
    node,
    version: client.info.nodePackageVersion ?? null,
    heads: async (signal) => {
      const { hashes, weight } = await client.cut({ signal })
      const heights = new Map(Object.entries(hashes).map(([chain, { height }]) => [Number(chain), height]))
      return { heights, weight: readU256LE(decodeBase64Url(weight), 0) }
    },
    network: (signal) => networkOf(client, signal),
    giveTo: (other) => giveBlocks(client, other.client),
    close: () => client.close(),
  }
}

/** The network of a node, as it says now. */
export async function networkOf(client: NodeClient, signal: AbortSignal): Promise<NodeNetwork> {
  const { nodeVersion, nodeChains, nodeGraphHistory } = await client.nodeInfo({ signal })
  const chains = nodeChains.map(Number).sort((a, b) => a - b)
  const genesis = await client.hashes(chains[0], { maxheight: 0, limit: 1, signal }).page()
  // Neither the order of graphs nor that of neighbours means anything (PROTOCOL.md E.1).
  const graphs = nodeGraphHistory
    .map(([from, graph]) => [from, graph.map(([chain, others]) => [chain, others.toSorted()]).sort(byFirst)] as const)
    .sort(byFirst)
  return {
    name: `${nodeVersion} (${chains.length} chains)`,
    identity: JSON.stringify([nodeVersion, chains, graphs, genesis.items]),
  }
}

const byFirst = ([a]: readonly unknown[], [b]: readonly unknown[]) => Number(a) - Number(b)
