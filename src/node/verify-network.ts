/** The rules of the network that a node says it belongs to. */
import { type Graph, graphs } from '../core/graph.ts'
import { development, mainnet01, type Network, recapDevelopment, testnet04 } from '../core/network.ts'
import type { NodeInfo } from '../schema/bodies.ts'
import { NodeMisbehaved } from './errors.ts'

/** A network to check headers by. */
export interface VerifiableNetwork {
  readonly network: Network
  /** Whether version code, genesis and difficulty rules are known; else only what holds on every network is. */
  readonly isKnown: boolean
}

const PUBLIC: readonly Network[] = [mainnet01, testnet04]
/** These keep their rules, but each node may run them with graphs and a block delay of its own. */
const DEVELOPMENT: readonly Network[] = [development, recapDevelopment]

/** Throws NodeMisbehaved for graphs that are none. `url`: of the node. */
export function networkOf(info: NodeInfo, url: string): VerifiableNetwork {
  const named = (network: Network) => network.name === info.nodeVersion
  const fixed = PUBLIC.find(named)
  if (fixed !== undefined) return { network: fixed, isKnown: true }
  const own = { graphHistory: graphHistoryOf(info, url), blockDelay: BigInt(info.nodeBlockDelay) }
  const known = DEVELOPMENT.find(named)
  if (known !== undefined) return { network: { ...known, ...own }, isKnown: true }
  return { network: { ...development, ...own, name: info.nodeVersion }, isKnown: false }
}

/** Live nodes list the newest first. */
function graphHistoryOf({ nodeGraphHistory }: NodeInfo, url: string): Network['graphHistory'] {
  const history = nodeGraphHistory.map(([from, adjacencyList]) => ({ from, graph: graphOf(adjacencyList, url) }))
  if (history.length === 0) throw noGraph(url, 'it has none')
  return history.sort((a, b) => a.from - b.from)
}

function graphOf(list: NodeInfo['nodeGraphHistory'][number][1], url: string): Graph {
  const adjacents: number[][] = []
  for (const [chain, chains] of list) adjacents[chain] = [...chains].sort((a, b) => a - b)
  const degree = adjacents[0]?.length ?? 0
  for (let chain = 0; chain < list.length; chain++) {
    const here = adjacents[chain]
    if (here === undefined || here.length !== degree) throw noGraph(url, `chain ${chain} is not like the others`)
    const oneWay = here.find((other) => other === chain || !adjacents[other]?.includes(chain))
    if (oneWay !== undefined) throw noGraph(url, `chains ${chain} and ${oneWay} are not adjacent to each other`)
  }
  if (adjacents.length === 0) throw noGraph(url, 'it has no chains')
  const same = (graph: Graph) => JSON.stringify(graph.adjacents) === JSON.stringify(adjacents)
  return { name: Object.values(graphs).find(same)?.name ?? 'other', adjacents, degree }
}

function noGraph(url: string, what: string): NodeMisbehaved {
  return new NodeMisbehaved(`${url} told of a chain graph that is none: ${what}`, { url, operation: 'nodeInfo' })
}
