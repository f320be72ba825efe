/**
 * Order of the definitions in a module: each after those that it uses. Among the possible orders it is the one of the
 * network, which sorts by strongly connected components.
 */
import { compareText } from '../../../values/compare.ts'
import type { ResolvedBefore } from '../../expand/resolver.ts'

/**
 * Sorts names by their uses.
 * @param uses name -> names that it uses; others are ignored
 * @returns the strongly connected components; a name that uses itself or lies on a cycle makes a cyclic one
 */
export function componentsOf(uses: ReadonlyMap<string, ReadonlySet<string>>): readonly Component[] {
  const names = [...uses.keys()].sort(compareText)
  const numbers = new Map(names.map((name, number) => [name, number]))
  const edges = names.map((name) => {
    const targets: number[] = []
    for (const used of uses.get(name) ?? []) {
      const number = numbers.get(used)
      if (number !== undefined) targets.push(number)
    }
    return targets.sort((a, b) => a - b)
  })
  const reversed: number[][] = names.map(() => [])
  for (const [from, targets] of edges.entries()) for (const to of targets) reversed[to].push(from)
  // The network walks the users of a definition from the last name to the first.
  for (const users of reversed) users.reverse()
  const [order] = walk(
    reversed,
    names.map((_, number) => number),
  )
  const [, trees] = walk(edges, order.reverse())
  return trees.map((tree) => ({
    names: tree.map((number) => names[number]),
    isCyclic: tree.length > 1 || edges[tree[0]].includes(tree[0]),
  }))
}

export interface Component {
  readonly names: readonly string[]
  readonly isCyclic: boolean
}

/**
 * Depth-first search with a stack of its own: a module may have thousands of functions, each calling the next.
 * @returns all nodes in the order in which they were left, and the same for the tree of each root
 */
function walk(edges: readonly (readonly number[])[], roots: readonly number[]): readonly [number[], number[][]] {
  const isSeen = new Uint8Array(edges.length)
  const left: number[] = []
  const trees: number[][] = []
  for (const root of roots) {
    if (isSeen[root] === 1) continue
    const start = left.length
    const path: { readonly node: number; next: number }[] = []
    const enter = (node: number) => {
      isSeen[node] = 1
      path.push({ node, next: 0 })
    }
    enter(root)
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const targets = edges[last.node]
      if (last.next === targets.length) {
        left.push(last.node)
        path.pop()
        continue
      }
      const target = targets[last.next++]
      if (isSeen[target] === 0) enter(target)
    }
    trees.push(left.slice(start))
  }
  return [left, trees]
}

/** The members that the network has resolved before a definition of a module. */
export class DefinitionOrder implements ResolvedBefore {
  readonly #uses: ReadonlyMap<string, ReadonlySet<string>>
  #ranks: ReadonlyMap<string, number> | null = null
  #around: string | null = null
  isInConstant = false

  /** @param uses definition -> definitions that it uses, without circles */
  constructor(uses: ReadonlyMap<string, ReadonlySet<string>>) {
    this.#uses = uses
  }

  begin(definition: string | null, kind: string): void {
    this.#around = definition
    this.isInConstant = kind === 'defconst'
  }

  has(member: string): boolean {
    const around = this.#around
    if (around === null || this.#uses.get(around)?.has(member) === true) return true
    this.#ranks ??= new Map(componentsOf(this.#uses).map(({ names: [name] }, rank) => [name, rank]))
    const rank = this.#ranks.get(member)
    return rank === undefined || rank < (this.#ranks.get(around) ?? Number.POSITIVE_INFINITY)
  }
}
