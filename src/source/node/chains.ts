/** The chains of a node as the miner last heard of them, for people to look at. Nothing is decided by it. */
import type { Header } from '../../core/header.ts'
import { graphAt, type Network } from '../../core/network.ts'
import { difficultyOf } from '../../core/target.ts'
import type { ChainStatus } from '../source.ts'
import type { ChainView } from './choice.ts'
import type { CutHeads } from './mining-node.ts'

/** Chain -> height of its head. */
type Heights = ReadonlyMap<number, number>

export class SeenChains {
  readonly #graphHistory: Network['graphHistory']
  #wanted: ReadonlySet<number>
  #heights: Heights = new Map()
  /** Of the last look at the heads, which may be a little older than the heights. */
  #heads: ReadonlyMap<number, Header> = new Map()
  #hasCut = false

  /** `wanted`: chains to mine. Without graphs nothing is told. */
  constructor(graphHistory: Network['graphHistory'], wanted: readonly number[]) {
    this.#graphHistory = graphHistory
    this.#wanted = new Set(wanted)
  }

  /** Other chains are to be mined. */
  want(wanted: readonly number[]): void {
    this.#wanted = new Set(wanted)
  }

  /** The cut comes every second; it tells heights only. */
  cutSeen(cut: CutHeads): void {
    this.#hasCut = true
    this.#heights = new Map([...cut].map(([chain, { height }]) => [chain, height]))
  }

  /** Headers come when chains are chosen among. */
  viewed({ cut }: Pick<ChainView, 'cut'>): void {
    this.#heads = cut
    if (!this.#hasCut) this.#heights = new Map([...cut].map(([chain, { height }]) => [chain, Number(height)]))
  }

  /** Ascending by chain; empty before anything was seen. */
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
          waitsFor: waitsFor(this.#graphHistory, heights, chain),
          adjacents: adjacentsAt(this.#graphHistory, height, chain),
          isWanted: this.#wanted.has(chain),
        }
      })
  }
}

/**
 * The chain that has to move on before `chain` can have a next block (PROTOCOL.md D): an adjacent one that is lower, or,
 * where the graph changes, any that is still before the change. null: none.
 */
export function waitsFor(history: Network['graphHistory'], heights: Heights, chain: number): number | null {
  const height = heights.get(chain) ?? 0
  for (const { from } of history) {
    if (from === 0 || height < from) continue
    for (const [other, its] of heights) if (its < from) return other
  }
  return adjacentsAt(history, height, chain).find((other) => (heights.get(other) ?? height) < height) ?? null
}

function adjacentsAt(history: Network['graphHistory'], height: number, chain: number): readonly number[] {
  return graphAt({ graphHistory: history }, height).adjacents[chain] ?? []
}
