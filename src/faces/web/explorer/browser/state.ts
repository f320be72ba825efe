/** Keeps the page's view of the node: the full view first, then changes (GET /devnet/live). */
import type { BlockView, NodeView, PrintView, RequestView } from '#ground/schema/view.ts'

/** A known block, and whether it is on its chain now. */
export interface KnownBlock extends BlockView {
  isOnChain: boolean
  /** Arrival by performance.now(); -Infinity for blocks of the first view. */
  readonly bornMs: number
}

/** A reorg: a chain that has lost blocks. */
export interface Reorganisation {
  readonly chain: number
  readonly lost: number
  /** Height of the lowest lost block. */
  readonly height: number
}

/** Blocks this far below the highest are evicted. */
const KEPT_HEIGHTS = 160
const MAX_REQUESTS = 200
const MAX_PRINTS = 200

/** The blocks of the branches. The parents of the lowest ones are not known. */
function blocksOfBranches({ branches, network }: NodeView): BlockView[] {
  const hashAt = (chain: number, height: number) => {
    const branch = branches.find((each) => each.chain === chain)
    return branch?.hashes[height - branch.lowest]
  }
  return branches.flatMap(({ chain, lowest, hashes, createdMs, transactions }) => {
    return hashes.map((hash, i) => {
      const height = lowest + i
      const adjacents = network.adjacents[chain].flatMap((each) => hashAt(each, height - 1) ?? [])
      const parents = { parent: hashes[i - 1] ?? '', adjacents }
      return { chain, height, hash, ...parents, createdMs: createdMs[i], transactions: transactions[i] }
    })
  })
}

export class NodeState {
  readonly blocks = new Map<string, KnownBlock>()
  view: NodeView
  requests: readonly RequestView[]
  prints: readonly PrintView[]

  constructor(view: NodeView) {
    this.view = view
    this.requests = view.requests ?? []
    this.prints = view.prints ?? []
    for (const block of [...blocksOfBranches(view), ...view.blocks]) {
      this.blocks.set(block.hash, { ...block, isOnChain: false, bornMs: -Infinity })
    }
    this.#follow()
  }

  /** The highest height of all chains. */
  get highest(): number {
    return Math.max(...this.view.heads.map(({ height }) => height))
  }

  get lowest(): number {
    return Math.min(...this.view.heads.map(({ height }) => height))
  }

  /** Applies a change that arrived at `nowMs`. @returns the reorgs that it contains */
  apply(change: Partial<NodeView>, nowMs: number): readonly Reorganisation[] {
    const { blocks = [], requests = [], prints = [] } = change
    for (const block of blocks) {
      if (!this.blocks.has(block.hash)) this.blocks.set(block.hash, { ...block, isOnChain: false, bornMs: nowMs })
    }
    this.view = { ...this.view, ...change }
    if (requests.length > 0) this.requests = [...this.requests, ...requests].slice(-MAX_REQUESTS)
    if (prints.length > 0) this.prints = [...this.prints, ...prints].slice(-MAX_PRINTS)
    if (change.heads === undefined && blocks.length === 0) return []
    const lost = this.#follow()
    const floor = this.highest - KEPT_HEIGHTS
    for (const { hash, height } of this.blocks.values()) if (height < floor) this.blocks.delete(hash)
    return lost
  }

  /** Marks the blocks on their chains: heads and ancestors. */
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
