/** What the page knows of the node: the whole view first, then what changes (GET /devnet/live). */

export interface NetworkView {
  readonly name: string
  readonly product: string
  readonly version: string
  readonly mode: string
  readonly pow: boolean
  readonly blockDelayMs: number
  readonly adjacents: readonly (readonly number[])[]
}

export interface HeadView {
  readonly chain: number
  readonly height: number
  readonly hash: string
  /** Digits. */
  readonly difficulty: string
}

export interface BlockView {
  readonly chain: number
  readonly height: number
  readonly hash: string
  readonly parent: string
  readonly adjacents: readonly string[]
  readonly createdMs: number
  readonly transactions: number
}

export interface PendingView {
  readonly key: string
  readonly chain: number
  readonly sender: string
  readonly what: string
  readonly gasPrice: number
  readonly gasLimit: number
  readonly sinceMs: number
}

export interface ExecutedView {
  readonly key: string
  readonly chain: number
  readonly height: number
  readonly block: string
  readonly isOrphan: boolean
  readonly sender: string
  readonly what: string
  readonly status: string
  readonly gas: number
  readonly fault?: string
}

export interface AccountView {
  readonly account: string
  readonly balances: readonly (string | null)[]
}

export interface RequestView {
  readonly id: number
  readonly atMs: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly ms: number
}

export interface FaultView {
  readonly operation: string
  readonly count: number
  readonly status?: number
  readonly delayMs?: number
}

export interface StatusView {
  readonly paused: readonly number[]
  readonly faults: readonly FaultView[]
  readonly streams: { readonly open: Readonly<Record<string, number>>; readonly stalled: readonly string[] }
  readonly clock: { readonly aheadMs: number; readonly nowMs: number }
  /** Ids, ascending. */
  readonly snapshots: readonly number[]
}

export interface View {
  readonly network: NetworkView
  readonly heads: readonly HeadView[]
  readonly blocks: readonly BlockView[]
  readonly pool: { readonly sizes: readonly number[]; readonly newest: readonly PendingView[] }
  readonly transactions: readonly ExecutedView[]
  readonly accounts: readonly AccountView[]
  /** Absent where the node takes no orders from this browser. */
  readonly status?: StatusView
  readonly requests?: readonly RequestView[]
}

/** A block that the page knows, and whether it is on its chain as that is now. */
export interface Block extends BlockView {
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

export class State {
  readonly blocks = new Map<string, Block>()
  view: View
  requests: readonly RequestView[]

  constructor(view: View) {
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
  apply(change: Partial<View>, nowMs: number): readonly Reorganisation[] {
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
