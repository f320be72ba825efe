/** Chain graphs (PROTOCOL.md D): undirected and regular. Blocks refer to blocks of adjacent chains. */

import { MAX_DEGREE } from './header.ts'

/** Maximum number of chains. A miner may hold a connection for each, and systems often allow 1,024 open files. */
export const MAX_CHAINS = 256

/** Adjacency of chains. */
export interface Graph {
  /** `other`: a graph described by a node that is not among the known ones. */
  readonly name: GraphName | 'other'
  /** Adjacent chains of each chain, ascending; index = chain. */
  readonly adjacents: readonly (readonly number[])[]
  /** Number of adjacent chains of each chain. */
  readonly degree: number
}

/** Names of the known graphs; `petersen` has 10 chains, `twenty` has 20. */
export type GraphName = 'singleton' | 'pair' | 'triangle' | 'petersen' | 'twenty'

function graph(name: GraphName, adjacents: readonly (readonly number[])[]): Graph {
  return { name, adjacents, degree: adjacents[0].length }
}

/** Known graphs by name. */
export const graphs: Readonly<Record<GraphName, Graph>> = {
  singleton: graph('singleton', [[]]),
  pair: graph('pair', [[1], [0]]),
  triangle: graph('triangle', [
    [1, 2],
    [0, 2],
    [0, 1],
  ]),
  petersen: graph('petersen', [
    [2, 3, 5],
    [3, 4, 6],
    [0, 4, 7],
    [0, 1, 8],
    [1, 2, 9],
    [0, 6, 9],
    [1, 5, 7],
    [2, 6, 8],
    [3, 7, 9],
    [4, 5, 8],
  ]),
  twenty: graph('twenty', [
    [5, 10, 15],
    [6, 11, 16],
    [7, 12, 17],
    [8, 13, 18],
    [9, 14, 19],
    [0, 7, 8],
    [1, 8, 9],
    [2, 5, 9],
    [3, 5, 6],
    [4, 6, 7],
    [0, 11, 19],
    [1, 10, 12],
    [2, 11, 13],
    [3, 12, 14],
    [4, 13, 15],
    [0, 14, 16],
    [1, 15, 17],
    [2, 16, 18],
    [3, 17, 19],
    [4, 10, 18],
  ]),
}

/** Names of all known graphs. */
export const graphNames = Object.keys(graphs) as readonly GraphName[]

/**
 * The graph of a list: the adjacent chains of each chain, in any order.
 * @returns what is wrong, as a sentence about `the graph`, if it cannot be one
 */
export function graphOf(list: readonly (readonly number[])[]): Graph | string {
  const chains = list.length
  if (chains === 0 || chains > MAX_CHAINS) return `has ${chains} chains, expected 1 to ${MAX_CHAINS}`
  const adjacents = list.map((others) => others.toSorted((a, b) => a - b))
  const degree = adjacents[0].length
  if (degree > MAX_DEGREE) return `has chains with ${degree} adjacent chains, expected at most ${MAX_DEGREE}`
  const unlike = adjacents.findIndex(({ length }) => length !== degree)
  if (unlike >= 0) {
    return `has ${adjacents[unlike].length} chains adjacent to chain ${unlike}, expected ${degree} as for chain 0`
  }
  for (const [chain, here] of adjacents.entries()) {
    for (const [i, other] of here.entries()) {
      if (other === chain || other === here[i - 1] || !adjacents[other]?.includes(chain)) {
        return `has chain ${other} adjacent to chain ${chain}, expected different chains, each to the other`
      }
    }
  }
  const isSame = (graph: Graph) => JSON.stringify(graph.adjacents) === JSON.stringify(adjacents)
  return { name: Object.values(graphs).find(isSame)?.name ?? 'other', adjacents, degree }
}

/**
 * A shortest path between two chains, including both ends.
 * @returns null if there is no path
 */
export function shortestPath({ adjacents }: Graph, from: number, to: number): number[] | null {
  // Breadth-first search from the end; `next` maps each chain to its successor on the path.
  const next = new Map<number, number>([[to, to]])
  for (const chain of next.keys()) {
    for (const adjacent of adjacents[chain] ?? []) if (!next.has(adjacent)) next.set(adjacent, chain)
  }
  if (adjacents[to] === undefined || !next.has(from)) return null
  const path = [from]
  for (let chain = from; chain !== to; path.push(chain)) chain = next.get(chain) as number
  return path
}
