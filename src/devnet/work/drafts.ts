/**
 * The next blocks of chains, one for each miner that asks for work. Transactions are executed ahead, in short slices as
 * they come in, so that no request waits for them.
 */
import type { Header } from '../../core/header.ts'
import type { MinerAccount } from '../../core/payload.ts'
import type { Draft } from '../ledger/draft.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Transaction } from '../mempool/command.ts'
import type { Mempools } from '../mempool/mempools.ts'
import type { Payload } from '../store/payload.ts'

export interface DraftsOptions {
  readonly ledger: Ledger
  readonly pools: Mempools
  /** The head of a chain. */
  readonly head: (chain: number) => Header
  /** Called when a block has more transactions than its miner was given, and none wait any more. */
  readonly onGrown: (chain: number) => void
}

/** Most miners of a chain whose blocks are made ahead. Those who asked last are kept. */
const MAX_DRAFTS_PER_CHAIN = 8
/** How long transactions are executed before waiting requests are served. */
const SLICE_MS = 4

/** A block that is being made for a miner. */
export interface LiveDraft {
  readonly draft: Draft
  readonly parent: Header
  /** Keys of transactions that it has, or has no place for. */
  readonly considered: Set<string>
  /** Transactions in it when its miner was given work. */
  servedSize: number
}

export class Drafts {
  readonly #options: DraftsOptions
  /** Chain -> miner -> block; who asked last is last. */
  readonly #live = new Map<number, Map<string, LiveDraft>>()
  /** Chain -> who asked last. */
  readonly #lastMiner = new Map<number, MinerAccount>()
  /** Chains whose pools have changed. */
  readonly #behind = new Set<number>()
  #slice: NodeJS.Immediate | null = null

  constructor(options: DraftsOptions) {
    this.#options = options
    options.pools.onChange((chain) => this.plan(chain))
  }

  /** The block of a miner on top of the head, with some of what is pending. Begun anew when the head has moved. */
  of(chain: number, miner: MinerAccount): LiveDraft {
    const { ledger, head } = this.#options
    const parent = head(chain)
    const live = this.#current(chain)
    const key = JSON.stringify([miner.account, miner.predicate, miner.publicKeys])
    const found = live.get(key)
    const draft = found ?? { draft: ledger.begin(parent, miner), parent, considered: new Set(), servedSize: 0 }
    live.delete(key)
    live.set(key, draft)
    this.#lastMiner.set(chain, miner)
    const [oldest] = live.keys()
    if (live.size > MAX_DRAFTS_PER_CHAIN && oldest !== undefined) live.delete(oldest)
    return draft
  }

  /**
   * Executes pending transactions of a chain at the end of a block, for about so long. Returns whether it has all that
   * it can have.
   */
  extend({ draft, considered }: LiveDraft, budgetMs = SLICE_MS): boolean {
    const { ledger, pools } = this.#options
    const { chain } = draft.block.context
    const endMs = performance.now() + budgetMs
    const refused: Transaction[] = []
    let isDone = true
    for (const transaction of pools.of(chain).byPrice) {
      if (draft.isFull) break
      if (considered.has(transaction.key)) continue
      if (performance.now() >= endMs) {
        isDone = false
        break
      }
      considered.add(transaction.key)
      const { cmd } = JSON.parse(decoder.decode(transaction.bytes)) as { readonly cmd: string }
      const added = draft.add(transaction, ledger.read(transaction.key, cmd))
      if (typeof added === 'object') refused.push(transaction)
    }
    if (refused.length > 0)
      pools.badlist(
        chain,
        refused.map(({ key }) => key),
      )
    return isDone
  }

  /** The payload of a block as it is now. */
  payload(live: LiveDraft): Payload {
    live.servedSize = live.draft.size
    return this.#options.ledger.payloadOf(live.draft, live.parent)
  }

  /** Whether a block has transactions that its miner does not know; null: no miner has asked for work of this chain. */
  hasNews(chain: number): boolean | null {
    const live = [...this.#current(chain).values()]
    return live.length === 0 ? null : live.some(({ draft, servedSize }) => draft.size > servedSize)
  }

  /** Blocks on top of the present head. */
  #current(chain: number): Map<string, LiveDraft> {
    const parent = this.#options.head(chain)
    const live = this.#live.get(chain)
    const [first] = live?.values() ?? []
    if (live !== undefined && (first === undefined || first.parent === parent)) return live
    const fresh = new Map<string, LiveDraft>()
    this.#live.set(chain, fresh)
    return fresh
  }

  /** Goes on with the blocks of a chain in the background. */
  plan(chain: number): void {
    this.#behind.add(chain)
    // What is left to do must not keep the process of a closed node alive.
    this.#slice ??= setImmediate(() => this.#catchUp()).unref()
  }

  /** One slice of work on the chain that has waited longest. */
  #catchUp(): void {
    this.#slice = null
    const [chain] = this.#behind
    if (chain === undefined) return
    this.#behind.delete(chain)
    const endMs = performance.now() + SLICE_MS
    let isDone = true
    // A new head: the block of whoever asked last is begun before it is asked for again.
    const miner = this.#lastMiner.get(chain)
    if (miner !== undefined && this.#current(chain).size === 0 && this.#options.pools.of(chain).size > 0) {
      this.of(chain, miner)
    }
    for (const live of this.#current(chain).values()) {
      isDone = this.extend(live, Math.max(0, endMs - performance.now())) && isDone
    }
    if (!isDone) this.#behind.add(chain)
    else if (this.hasNews(chain) !== false) this.#options.onGrown(chain)
    if (this.#behind.size > 0) this.#slice = setImmediate(() => this.#catchUp()).unref()
  }
}

const decoder = new TextDecoder()
