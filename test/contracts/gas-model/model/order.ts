/**
 * The order of the definitions of a module: each after those that it names (Data.Graph, stronglyConnComp, whose results
 * are in reverse topological order; Desugar.hs, defSCC).
 */
import { Fatal } from './state.ts'
import { compareTexts } from './terms.ts'

interface Vertex {
  readonly key: string
  /** Keys of definitions that it names, sorted. */
  readonly names: readonly string[]
}

/**
 * The keys in the order in which they are resolved.
 * @throws Fatal if definitions name each other in a circle
 */
export function orderOf(given: readonly Vertex[]): readonly number[] {
  const vertices = given.map((vertex, place) => ({ ...vertex, place })).sort((a, b) => compareTexts(a.key, b.key))
  const numbers = new Map(vertices.map(({ key }, number) => [key, number]))
  const edges = vertices.map(({ names }) => {
    return names.map((name) => numbers.get(name)).filter((number) => number !== undefined)
  })
  const reversed: number[][] = vertices.map(() => [])
  // The edges of the transposed graph are collected from the front, so that the last comes first.
  edges.forEach((targets, from) => {
    for (const target of targets) reversed[target].unshift(from)
  })
  const all = vertices.map((_, number) => number)
  const roots = postOrder(forest(reversed, all)).reverse()
  return forest(edges, roots).map((tree) => {
    if (tree.children.length > 0) throw new Fatal('recursion')
    const { key, names, place } = vertices[tree.vertex]
    if (names.includes(key)) throw new Fatal('recursion')
    return place
  })
}

interface Tree {
  readonly vertex: number
  readonly children: readonly Tree[]
}

/** Depth-first search from these roots in turn. */
function forest(edges: readonly (readonly number[])[], roots: readonly number[]): Tree[] {
  const seen = new Set<number>()
  const grow = (candidates: readonly number[]): Tree[] =>
    candidates.flatMap((vertex) => {
      if (seen.has(vertex)) return []
      seen.add(vertex)
      return [{ vertex, children: grow(edges[vertex]) }]
    })
  return grow(roots)
}

function postOrder(trees: readonly Tree[]): number[] {
  return trees.flatMap(({ vertex, children }) => [...postOrder(children), vertex])
}
