/**
 * Next blocks of the chains, one for each miner that asks for work. Transactions are executed ahead in time slices as
 * they arrive, so that no request waits for them.
 */
import { describeError } from '#ground/base/errors.ts'
import type { Header } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { MissingEntry } from '#language/contracts/machine/state.ts'
import { type CopiedBase, textsOf } from '../ledger/copied-base.ts'
import type { AddOutcome, PayloadDraft, RunCommand } from '../ledger/draft.ts'
import { executeInBlock } from '../ledger/execute.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Mempools } from '../mempool/mempools.ts'
import type { Transaction } from '../mempool/transaction.ts'
import type { StoredPayload } from '../store/payload.ts'
import type { TimeSlicer, YieldingWork } from '../time-slicer.ts'

interface DraftsOptions {
  /** Executes commands. Default: at once. */
  readonly run?: RunCommand | undefined
  readonly ledger: Ledger
  readonly pools: Mempools
  readonly turns: TimeSlicer
  /** Returns the head of a chain. */
  readonly head: (chain: number) => Header
  /** Called when the reward of a block cannot be paid to its miner. */
  readonly onUnpaid: (chain: number, miner: MinerAccount, fault: string) => void
  /** Called when a block has more transactions than its miner was given, and none are waiting. */
  readonly onGrown: (chain: number) => void
  /** State below the first blocks, if the network was forked. */
  readonly fork?: CopiedBase | null | undefined
  /** Called with a message for the operator. */
  readonly onNotice?: ((message: string) => void) | undefined
}

/** Maximum miners of a chain whose blocks are built ahead: those with the latest requests. */
const MAX_DRAFTS_PER_CHAIN = 8
/** Time that a request for work spends on pending transactions. */
const REQUEST_SLICE_MS = 2
/** Transactions executed on a chain before those of the next chain. */
const TRANSACTIONS_PER_TURN = 16
/** Maximum transactions of a block that is restarted for dearer ones. Dearer ones wait if the block is larger. */
const MAX_REDONE = 16

/** Maximum transactions remembered as slow; a forgotten one delays the next block once more. */
const MAX_SLOW = 1000

/** A block under construction for a miner. */
interface LiveDraft {
  readonly draft: PayloadDraft
  readonly parent: Header
  /** Keys of transactions that it has, or has no room for. */
  readonly considered: Set<string>
  /** Lowest gas price among its transactions. */
  lowestPrice: number
  /** The transaction under execution, which comes before all others; null if there is none. */
  running: Transaction | null
  /** Number of transactions when its miner last got work; null if the block was begun before its miner asked. */
  servedSize: number | null
}

/** Outcome of executing transactions for a while: `more` are left. */
type ExtendOutcome = 'done' | 'more' | 'waiting'

const executeAtOnce: RunCommand = executeInBlock

export class Drafts {
  readonly #options: DraftsOptions
  /** Chain -> miner -> block, latest request last. */
  readonly #live = new Map<number, Map<string, LiveDraft>>()
  /** Chain -> miner of the latest request. */
  readonly #lastMiner = new Map<number, MinerAccount>()
  /** Chains whose mempools have changed. */
  readonly #outdated = new Set<number>()
  #isCatchingUp = false
  /** Request keys of transactions that were not done at once. */
  readonly #slow = new Set<string>()
  readonly #waiting = new Set<() => void>()

  constructor(options: DraftsOptions) {
    this.#options = options
    options.pools.onChange((chain) => this.plan(chain))
  }

  /** Block of a miner on top of the head, with some of the pending transactions. Restarted when the head has moved. */
  draftOf(chain: number, miner: MinerAccount): LiveDraft {
    const parent = this.#options.head(chain)
    const live = this.#current(chain)
    const key = JSON.stringify([miner.account, miner.predicate, miner.publicKeys])
    const found = live.get(key)
    const draft = found === undefined || this.#isCheapToImprove(found) ? this.#begin(chain, parent, miner) : found
    live.delete(key)
    live.set(key, draft)
    this.#lastMiner.set(chain, miner)
    const [oldest] = live.keys()
    if (live.size > MAX_DRAFTS_PER_CHAIN && oldest !== undefined) live.delete(oldest)
    return draft
  }

  #begin(chain: number, parent: Header, miner: MinerAccount): LiveDraft {
    const draft = this.#options.ledger.begin(parent, miner, { gasLimit: this.#options.pools.gas.blockLimit })
    if (draft.rewardFault !== null) this.#options.onUnpaid(chain, miner, draft.rewardFault)
    return {
      draft,
      parent,
      considered: new Set(),
      lowestPrice: Number.POSITIVE_INFINITY,
      running: null,
      servedSize: null,
    }
  }

  /** Whether to restart a block for dearer transactions: it is small, and its miner has not seen it yet. */
  #isCheapToImprove({ draft, lowestPrice, servedSize, running }: LiveDraft): boolean {
    if (running !== null || servedSize !== null || draft.size > MAX_REDONE) return false
    const { byPrice } = this.#options.pools.poolOf(draft.block.context.chain)
    const dearest = byPrice.find(({ key }) => !draft.has(key))
    return dearest !== undefined && dearest.gasPrice > lowestPrice
  }

  /**
   * Executes pending transactions of a chain at the end of a block, for about `budgetMs`.
   * @returns `done`: it has everything that it can have; `waiting`: a transaction is still under execution
   */
  extend(live: LiveDraft, budgetMs = REQUEST_SLICE_MS): ExtendOutcome {
    const endMs = performance.now() + budgetMs
    const steps = this.#execute(live)
    while (performance.now() < endMs) {
      const step = steps.next()
      if (step.done) return step.value
    }
    // The transaction at hand is left for the next call.
    steps.return('done')
    return 'more'
  }

  /** Begins the blocks of a chain again, without transactions that are no longer pending. */
  restart(chain: number): void {
    this.#live.delete(chain)
    this.plan(chain)
  }

  /** Resolves when the next transaction under execution is done. */
  whenDone(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  /** Call it when a transaction under execution is done. */
  continue(): void {
    for (const chain of this.#live.keys()) this.plan(chain)
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  /** Like extend, with one transaction in each step. */
  *#execute(live: LiveDraft): YieldingWork<Exclude<ExtendOutcome, 'more'>> {
    const { draft, considered } = live
    const { pools, run = executeAtOnce } = this.#options
    const { chain } = draft.block.context
    const refused = new Map<string, string>()
    let isWaiting = false
    try {
      for (const transaction of this.#order(live)) {
        if (draft.isFull) return 'done'
        const { key, gasPrice } = transaction
        if (considered.has(key)) continue
        considered.add(key)
        const added = this.#add(draft, transaction, run)
        live.running = added === 'running' ? transaction : null
        if (added === 'running' || added === 'busy') {
          isWaiting = true
          considered.delete(key)
          if (added === 'busy') continue
          this.#noteSlow(key)
          // The state that it reads must not change.
          return 'waiting'
        } else if (added === 'added') live.lowestPrice = Math.min(live.lowestPrice, gasPrice)
        else if (added !== 'left') refused.set(key, added.refused)
        yield
      }
    } finally {
      if (refused.size > 0) pools.badlist(chain, refused)
    }
    return isWaiting ? 'waiting' : 'done'
  }

  /** Adds a transaction. One that misses entries of a forked network waits until they are there. */
  #add(draft: PayloadDraft, transaction: Transaction, run: RunCommand): AddOutcome | 'running' | 'busy' {
    try {
      return draft.addBy(run, transaction)
    } catch (error) {
      const { fork, onNotice } = this.#options
      if (fork == null || !(error instanceof MissingEntry)) throw error
      // A slow command may have missed it before another one had it fetched.
      if (error.isFetched) return this.#add(draft, transaction, run)
      const { chain } = draft.block.context
      fork.fetch(error, textsOf(transaction.command)).then(
        () => this.#reconsider(chain, transaction.key),
        // The next block tries again.
        (reason) => onNotice?.(`${transaction.key} waits for the forked network: ${describeError(reason)}`),
      )
      return 'left'
    }
  }

  #reconsider(chain: number, key: string): void {
    for (const { considered } of this.#live.get(chain)?.values() ?? []) considered.delete(key)
    this.continue()
  }

  /** Pending transactions in the order in which a block takes them: by price, those that were slow before last. */
  #order({ running, draft }: LiveDraft): readonly Transaction[] {
    const { byPrice } = this.#options.pools.poolOf(draft.block.context.chain)
    if (running !== null) return [running, ...byPrice]
    if (this.#slow.size === 0) return byPrice
    return [...byPrice.filter(({ key }) => !this.#slow.has(key)), ...byPrice.filter(({ key }) => this.#slow.has(key))]
  }

  #noteSlow(key: string): void {
    this.#slow.add(key)
    const [oldest] = this.#slow
    if (this.#slow.size > MAX_SLOW) this.#slow.delete(oldest)
  }

  /** The current payload of a block, for its miner. */
  payload(live: LiveDraft): StoredPayload {
    live.servedSize = live.draft.size
    return this.#options.ledger.payloadOf(live.draft, live.parent)
  }

  /** Whether a block has transactions unknown to its miner, or null if no miner has asked for work of this chain. */
  hasNews(chain: number): boolean | null {
    const live = [...this.#current(chain).values()]
    return live.length === 0 ? null : live.some(({ draft, servedSize }) => draft.size > (servedSize ?? 0))
  }

  /** Blocks on top of the current head. */
  #current(chain: number): Map<string, LiveDraft> {
    const parent = this.#options.head(chain)
    const live = this.#live.get(chain)
    const [first] = live?.values() ?? []
    if (live !== undefined && (first === undefined || first.parent === parent)) return live
    const fresh = new Map<string, LiveDraft>()
    this.#live.set(chain, fresh)
    return fresh
  }

  /** Continues the blocks of a chain in the background. */
  plan(chain: number): void {
    this.#outdated.add(chain)
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    void this.#options.turns.run('blocks', this.#catchUp())
  }

  /** Executes a few transactions of each chain that is behind, the longest waiting chain first, until none is. */
  *#catchUp(): YieldingWork<void> {
    for (const chain of this.#outdated) {
      this.#outdated.delete(chain)
      this.#beginNext(chain)
      if (!(yield* this.#grow(chain))) this.#outdated.add(chain)
      else if (this.hasNews(chain) !== false) this.#options.onGrown(chain)
    }
    this.#isCatchingUp = false
  }

  /** After a new head, begins the block of the miner that asked last before it asks again. */
  #beginNext(chain: number): void {
    const miner = this.#lastMiner.get(chain)
    const isBegun = this.#current(chain).size > 0
    if (miner !== undefined && !isBegun && this.#options.pools.poolOf(chain).size > 0) this.draftOf(chain, miner)
  }

  /** Executes a few transactions in each block of a chain. @returns whether all have everything that they can have */
  *#grow(chain: number): YieldingWork<boolean> {
    let isDone = true
    for (const live of [...this.#current(chain).values()]) isDone = (yield* this.#growOne(live, chain)) && isDone
    return isDone
  }

  *#growOne(live: LiveDraft, chain: number): YieldingWork<boolean> {
    const steps = this.#execute(live)
    // A block on an outdated head is of no use.
    for (let i = 0; i < TRANSACTIONS_PER_TURN && live.parent === this.#options.head(chain); i++) {
      if (steps.next().done) return true
      yield
    }
    steps.return('done')
    return false
  }
}
