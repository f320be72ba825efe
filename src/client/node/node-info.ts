/**
 * Judges the description that a node gives of itself before anything uses it. Its name becomes part of paths, and its
 * texts reach the terminal. Its chains and degrees decide how many streams and how much memory a miner needs. A node
 * whose description is impossible is refused.
 */
import { printable } from '#ground/base/printable.ts'
import { type Graph, graphOf as graphFrom, MAX_CHAINS } from '#ground/chain/graph.ts'
import type { WorkFields } from '#ground/chain/header.ts'
import { isNetworkName, type Network } from '#ground/chain/network.ts'
import { NodeInfo } from '#ground/schema/bodies.ts'
import { validatorOf } from '#ground/schema/validator.ts'

/** Maximum number of graphs in the history of a network; the main network has two. */
const MAX_GRAPHS = 64
/** Maximum time between blocks of a chain: a year, like that of the embedded node. Timeouts follow from it. */
const MAX_BLOCK_DELAY_US = 365 * 86_400_000_000
/** Maximum for texts in /info: versions, dates. */
const MAX_TEXT_CHARACTERS = 100

/** Graphs by their first height, ascending. */
export type GraphHistory = Network['graphHistory']

/** Description of a node, and its graphs in the form of core/network.ts. */
export interface CheckedNodeInfo {
  /** Its texts are printable and at most 100 characters long; unknown keys are unchanged. */
  readonly info: NodeInfo
  readonly graphHistory: GraphHistory
}

/** An impossible value in a response of a node. The message names the value, its place, and the expected value. */
export class WrongAnswer extends Error {}

const REQUIRED_KEYS: readonly string[] = NodeInfo.required
/**
 * Keys that mining does not need, but whose numbers are judged: a delay sets timeouts, a count contradicts the chains.
 */
const JUDGED_NUMBERS: readonly string[] = ['nodeBlockDelay', 'nodeNumberOfChains']

/**
 * Removes values from the body of /info that mining does not need and that break their schemas, such as a `null` or a
 * form of a later release. Keeps keys that mining needs, and numbers to be judged: those are refused if they are wrong.
 * Keeps unknown keys. Any other JSON is returned unchanged.
 */
export function dropUnusableValues(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json
  return Object.fromEntries(Object.entries(json).filter(([key, value]) => isUsable(key, value)))
}

function isUsable(key: string, value: unknown): boolean {
  if (REQUIRED_KEYS.includes(key) || !Object.hasOwn(NodeInfo.properties, key)) return true
  if (JUDGED_NUMBERS.includes(key) && ['number', 'bigint'].includes(typeof value)) return true
  return validatorOf(NodeInfo.properties[key as keyof typeof NodeInfo.properties]).accepts(value)
}

/** Checks a description of a node. @throws WrongAnswer for an impossible one */
export function judgeInfo(info: NodeInfo): CheckedNodeInfo {
  const { nodeVersion, nodeBlockDelay, nodeApiVersion, nodePackageVersion, nodeServiceDate } = info
  if (!isNetworkName(nodeVersion)) {
    const shown = JSON.stringify(printable(nodeVersion, MAX_TEXT_CHARACTERS))
    refuse(`nodeVersion is ${shown}, expected the name of a network: up to 64 letters, digits, dots and dashes`)
  }
  if (nodeBlockDelay !== undefined && nodeBlockDelay > MAX_BLOCK_DELAY_US) {
    refuse(`nodeBlockDelay is ${nodeBlockDelay}, expected 1 to ${MAX_BLOCK_DELAY_US} microseconds`)
  }
  const graphHistory = judgeHistory(info.nodeGraphHistory)
  judgeChains(info, graphHistory)
  const text = (value: string) => printable(value, MAX_TEXT_CHARACTERS)
  const texts = {
    ...(nodeApiVersion !== undefined && { nodeApiVersion: text(nodeApiVersion) }),
    ...(nodePackageVersion !== undefined && { nodePackageVersion: text(nodePackageVersion) }),
    ...(typeof nodeServiceDate === 'string' && { nodeServiceDate: text(nodeServiceDate) }),
  }
  return { info: { ...info, ...texts }, graphHistory }
}

/** Sorts the graphs: live nodes list the newest first. */
function judgeHistory(entries: NodeInfo['nodeGraphHistory']): GraphHistory {
  if (entries.length === 0 || entries.length > MAX_GRAPHS) {
    refuse(`nodeGraphHistory has ${entries.length} graphs, expected 1 to ${MAX_GRAPHS}`)
  }
  const history = entries.map(([from, list]) => {
    if (!isNatural(from)) refuse(`nodeGraphHistory has a graph from height ${from}, expected a whole number from 0 on`)
    return { from, graph: graphOf(list, `the graph from height ${from}`) }
  })
  history.sort((a, b) => a.from - b.from)
  const twice = history.find(({ from }, i) => i > 0 && from === history[i - 1].from)
  if (twice !== undefined) refuse(`nodeGraphHistory has two graphs from height ${twice.from}, expected one`)
  return history
}

function graphOf(list: NodeInfo['nodeGraphHistory'][number][1], name: string): Graph {
  const chains = list.length
  if (chains === 0 || chains > MAX_CHAINS) refuse(`${name} has ${chains} chains, expected 1 to ${MAX_CHAINS}`)
  const byChain = new Map(list.map(([chain, others]) => [chain, others]))
  const adjacents = Array.from({ length: chains }, (_, chain) => {
    const here = byChain.get(chain)
    if (here === undefined) refuse(`${name} does not have chain ${chain}, expected chains 0 to ${chains - 1}`)
    return here
  })
  const graph = graphFrom(adjacents)
  return typeof graph === 'string' ? refuse(`${name} ${graph}`) : graph
}

function judgeChains({ nodeChains, nodeNumberOfChains }: NodeInfo, graphHistory: GraphHistory): void {
  const count = Math.max(...graphHistory.map(({ graph }) => graph.adjacents.length))
  const seen = new Set<number>()
  for (const id of nodeChains) {
    const chain = Number(id)
    if (String(chain) !== id || chain >= count || seen.has(chain)) {
      const shown = JSON.stringify(printable(id, MAX_TEXT_CHARACTERS))
      refuse(`nodeChains has ${shown}, expected different chains from 0 to ${count - 1}, as in nodeGraphHistory`)
    }
    seen.add(chain)
  }
  if (nodeNumberOfChains !== undefined && nodeNumberOfChains !== nodeChains.length) {
    refuse(`nodeNumberOfChains is ${nodeNumberOfChains}, expected ${nodeChains.length}, the number of nodeChains`)
  }
}

/** Checks that work fits the graphs of its node. @throws WrongAnswer */
export function judgeWork({ chainId, height, adjacents }: WorkFields, graphHistory: GraphHistory): void {
  if (height < 1n || height > BigInt(Number.MAX_SAFE_INTEGER)) {
    refuse(`height ${height}, expected 1 to ${Number.MAX_SAFE_INTEGER}`)
  }
  // A block names its adjacent chains by the graph at the height of its parent (PROTOCOL.md D).
  const graph = graphBefore(graphHistory, Number(height))
  const expected = graph.adjacents[chainId]
  if (expected === undefined) {
    refuse(`chain ${chainId} at height ${height}, expected one of 0 to ${graph.adjacents.length - 1} as in its /info`)
  }
  const chains = [...adjacents.keys()]
  if (chains.length === expected.length && chains.every((chain, i) => chain === expected[i])) return
  const actual = chains.length === 0 ? 'no chains' : `chains ${chains.join(', ')}`
  const right = expected.length === 0 ? 'none' : expected.join(', ')
  refuse(`${actual} adjacent to chain ${chainId} at height ${height}, expected ${right} as in its /info`)
}

function graphBefore(history: GraphHistory, height: number): Graph {
  const reached = history.filter(({ from }) => from < height)
  return (reached.at(-1) ?? history[0]).graph
}

function isNatural(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function refuse(what: string): never {
  throw new WrongAnswer(what)
}
