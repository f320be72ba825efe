/** What the page knows of the node: the whole view first, then what changes (GET /devnet/live). */
import type { BlockView, NodeView, RequestView } from '../../../schema/view.ts'

/** A block that the page knows, and whether it is on its chain as that is now. */
export interface KnownBlock extends BlockView {
  isOnChain: boolean
  /** When the page heard of it, by performance.now(); -Infinity: it was there before. */
  readonly bornMs: number
}

/** A chain that has lost blocks. */
export interface Reorganisation {
  readonly chain: number
  readonly lost: number
  /** Of the lowest block that was lost. */
  readonly height: number
}

/** Blocks so far below the highest are forgotten. */
const KEPT_HEIGHTS = 160
const MAX_REQUESTS = 200

export class NodeState {
  readonly blocks = new Map<string, KnownBlock>()
  view: NodeView
  requests: readonly RequestView[]

  constructor(view: NodeView) {
    this.view = view
    this.requests = view.requests ?? []
    for (const block of view.blocks) this.blocks.set(block.hash, { ...block, isOnChain: false, bornMs: -Infinity })
    this.#follow()
  }

  /** Highest height of all chains. */
  get highest(): number {
    return Math.max(...this.view.heads.map(({ height }) => height))
  }

  get lowest(): number {
    return Math.min(...this.view.heads.map(({ height }) => height))
  }

  /** Takes a change, heard of at `nowMs`. Returns the chains that have lost blocks by it. */
  apply(change: Partial<NodeView>, nowMs: number): readonly Reorganisation[] {
    const { blocks = [], requests = [] } = change
    for (const block of blocks) {
      if (!this.blocks.has(block.hash)) this.blocks.set(block.hash, { ...block, isOnChain: false, bornMs: nowMs })
    }
    this.view = { ...this.view, ...change }
    if (requests.length > 0) this.requests = [...this.requests, ...requests].slice(-MAX_REQUESTS)
    if (change.heads === undefined && blocks.length === 0) return []
    const lost = this.#follow()
    const floor = this.highest - KEPT_HEIGHTS
    for (const { hash, height } of this.blocks.values()) if (height < floor) this.blocks.delete(hash)
    return lost
  }

  /** Finds which blocks are on their chains: the heads and their ancestors. */
  #follow(): readonly Reorganisation[] {
    const onChain = new Set<string>()
    for (const { hash } of this.view.heads) {
      for (let block = this.blocks.get(hash); block !== undefined; block = this.blocks.get(block.parent)) {
        onChain.add(block.hash)
      }
    }
    const lost = new Map<number, { lost: number; height: number }>()
    for (const block of this.blocks.values()) {
      const isOnChain = onChain.has(block.hash)
      if (block.isOnChain && !isOnChain) {
        const known = lost.get(block.chain) ?? { lost: 0, height: block.height }
        lost.set(block.chain, { lost: known.lost + 1, height: Math.min(known.height, block.height) })
      }
      block.isOnChain = isOnChain
    }
    return [...lost].map(([chain, each]) => ({ chain, ...each }))
  }
}
