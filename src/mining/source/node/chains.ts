/** The chains of a node for display. They decide nothing. */
import type { Header } from '#ground/chain/header.ts'
import { graphAt, type Network } from '#ground/chain/network.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import type { ChainStatus } from '../source.ts'
import type { ChainView } from './choice.ts'
import type { CutHeads } from './mining-node.ts'

/** Chain -> height of its head. */
type Heights = ReadonlyMap<number, number>

export class ChainDisplay {
  readonly #graphHistory: Network['graphHistory']
  #wanted: ReadonlySet<number>
  #heights: Heights = new Map()
  /** Headers of the last look at the heads; may be slightly older than the heights. */
  #heads: ReadonlyMap<number, Header> = new Map()
  #hasCut = false

  /**
   * @param graphHistory without graphs, statuses() is empty
   * @param wanted chains to mine
   */
  constructor(graphHistory: Network['graphHistory'], wanted: readonly number[]) {
    this.#graphHistory = graphHistory
    this.#wanted = new Set(wanted)
  }

  /** Sets the chains to mine. */
  setChains(wanted: readonly number[]): void {
    this.#wanted = new Set(wanted)
  }

  /** Updates the heights. A cut arrives every second. */
  updateHeights(cut: CutHeads): void {
    this.#hasCut = true
    this.#heights = new Map([...cut].map(([chain, { height }]) => [chain, height]))
  }

  /** Updates the headers, which arrive when chains are compared. */
  updateHeads({ cut }: Pick<ChainView, 'cut'>): void {
    this.#heads = cut
    if (!this.#hasCut) this.#heights = new Map([...cut].map(([chain, { height }]) => [chain, Number(height)]))
  }

  /** Statuses in ascending order; empty before the first cut. */
  statuses(): ChainStatus[] {
    if (this.#graphHistory.length === 0) return []
    const heights = this.#heights
    return [...heights]
      .sort(([a], [b]) => a - b)
      .map(([chain, height]) => {
        const head = this.#heads.get(chain)
        const difficulty = head === undefined ? null : difficultyOf(head.target)
        return {
          chain,
          height,
          difficulty: difficulty === null ? null : Number(difficulty),
          waitsFor: blockingChainOf(this.#graphHistory, heights, chain),
          adjacents: adjacentsAt(this.#graphHistory, height, chain),
          isWanted: this.#wanted.has(chain),
        }
      })
  }
}

/**
 * The chain that has to advance before `chain` can have a next block (PROTOCOL.md D). It is a lower adjacent one or, at
 * a change of graphs, any chain that is still before the change.
 * @returns null if there is none
 */
export function blockingChainOf(history: Network['graphHistory'], heights: Heights, chain: number): number | null {
  const height = heights.get(chain) ?? 0
  for (const { from } of history) {
    if (from === 0 || height < from) continue
    for (const [other, otherHeight] of heights) if (otherHeight < from) return other
  }
  return adjacentsAt(history, height, chain).find((other) => (heights.get(other) ?? height) < height) ?? null
}

function adjacentsAt(history: Network['graphHistory'], height: number, chain: number): readonly number[] {
  return graphAt({ graphHistory: history }, height).adjacents[chain] ?? []
}
