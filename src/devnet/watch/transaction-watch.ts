/**
 * Reports every step of a transaction: pending, in a block, undone, dropped, refused. Reading a transaction takes
 * longer than adding a block, so events are made in time slices, in the order of the steps.
 */
import { equalBytes } from '#ground/base/bytes.ts'
import { printable } from '#ground/base/printable.ts'
import type { Header } from '#ground/chain/header.ts'
import type { TransactionEvent, UndoneTransaction } from '#ground/schema/devnet-events.ts'
import type { Command } from '../command/command.ts'
import { CommandFault, readStored } from '../command/read.ts'
import type { Mempools } from '../mempool/mempools.ts'
import { FULL, REVERTED } from '../mempool/refusals.ts'
import type { Transaction } from '../mempool/transaction.ts'
import type { Chains } from '../rules/chains.ts'
import type { Block } from '../store/block-store.ts'
import { differenceOf } from '../store/difference.ts'
import { requestKeysOf } from '../store/transaction-index.ts'
import type { TimeSlicer, YieldingWork } from '../time-slicer.ts'
import { describeCommand, MAX_KEY } from './command-description.ts'
import { outcomeOf } from './outcome.ts'

interface TransactionWatchOptions {
  readonly chains: Chains
  readonly pools: Mempools
  readonly turns: TimeSlicer
  readonly report: (event: TransactionEvent) => void
}

/** A command of a refused request, and the reason. */
interface RefusedCommand {
  /** Request key, as in JSON. */
  readonly hash: string
  /** null if it does not parse. */
  readonly command: Command | null
  readonly fault: string
}

/** Maximum queued moves of heads. Beyond them a chain is reported in its latest state, without steps in between. */
const MAX_MOVES = 10_000
/** Maximum queued transactions outside of blocks. Beyond them only their number is reported. */
const MAX_WAITING = 20_000
/** Maximum undone transactions that are remembered until a block holds them again. */
const MAX_UNDONE = 10_000
const MAX_REASON_LENGTH = 512

type UndonePlace = UndoneTransaction['wentTo']

/** A move of a head. `places` has the places of transactions of lost blocks, by request key. */
interface HeadMove {
  readonly isRevert: boolean
  readonly places: ReadonlyMap<string, UndonePlace>
}

/** A queued report. `size` counts its transactions outside of blocks. */
interface QueuedReport {
  readonly size: number
  readonly run: () => YieldingWork<void>
}

export class TransactionWatch {
  readonly #options: TransactionWatchOptions
  /** Oldest first. */
  readonly #jobs = new Set<QueuedReport>()
  /** Chain -> the last head reported. */
  readonly #heads: Map<number, Header>
  /** Chain -> its newest head. */
  readonly #newest: Map<number, Header>
  /** Chains that moved while too many moves were queued. */
  readonly #late = new Set<number>()
  /** Request keys, oldest first. */
  readonly #undone = new Set<string>()
  #waiting = 0
  #skipped = 0
  #isReporting = false
  #onReported: (() => void)[] = []

  constructor(options: TransactionWatchOptions) {
    const { chains, pools } = options
    this.#options = options
    this.#heads = new Map(chains.cut)
    this.#newest = new Map(chains.cut)
    pools.listen({
      onEntered: (chain, transactions) =>
        this.#queueReport(transactions.length, () => this.#reportEntered(chain, transactions)),
      onDropped: (chain, transaction, reason) =>
        this.#queueReport(1, () => this.#reportDropped(chain, transaction, reason)),
    })
    chains.onCut((changed, isRevert) => {
      for (const chain of changed) this.#queueMove(chain, isRevert)
    })
  }

  /** Reports refused commands. */
  reportRefused(chain: number, httpStatus: number, commands: readonly RefusedCommand[]): void {
    this.#queueReport(commands.length, () => this.#reportCommands(chain, httpStatus, commands))
  }

  /** Reports a send request that was refused as a whole. */
  reportRefusedRequest(chain: number | null, httpStatus: number, reason: string): void {
    const unread = { requestKey: null, sender: null, action: null, index: 0, count: 1 }
    const told = printable(reason, MAX_REASON_LENGTH)
    this.#queueReport(1, () => this.#reportOne({ step: 'refused', chain, httpStatus, reason: told, ...unread }))
  }

  /** Resolves once every step so far is reported. */
  waitForReports(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isReporting) this.#onReported.push(resolve)
      else resolve()
    })
  }

  #queueMove(chain: number, isRevert: boolean): void {
    const [before, head] = [this.#newest.get(chain), this.#options.chains.cut.get(chain)]
    if (before === undefined || head === undefined) return
    this.#newest.set(chain, head)
    if (this.#late.has(chain)) return
    if (this.#jobs.size < MAX_MOVES) {
      const places = new Map<string, UndonePlace>()
      if (hasLostBlocks(before, head)) queueMicrotask(() => this.#findPlaces(places, before, head))
      this.#jobs.add({ size: 0, run: () => this.#reportMove(chain, head, { isRevert, places }) })
    } else {
      this.#late.add(chain)
    }
    this.#plan()
  }

  /**
   * Notes where the transactions of lost blocks are, by request key. It runs before the pools and the chain move again,
   * but after the current change: a revert restores the pools after it has moved the heads.
   */
  #findPlaces(places: Map<string, UndonePlace>, before: Header, head: Header): void {
    for (const block of differenceOf(this.#options.chains.store, before, head).left) {
      for (const key of requestKeysOf(block)) places.set(key, this.#placeOf(block.chain, key))
    }
  }

  #placeOf(chain: number, key: string): UndonePlace {
    const { pools } = this.#options
    if (pools.poolOf(chain).get(key) !== undefined) return 'pool'
    return pools.isOnChain(chain, key) ? 'chain' : 'nowhere'
  }

  #queueReport(size: number, run: () => YieldingWork<void>): void {
    if (this.#waiting + size > MAX_WAITING) {
      this.#skipped += size
    } else {
      this.#waiting += size
      this.#jobs.add({ size, run })
    }
    this.#plan()
  }

  #plan(): void {
    if (this.#isReporting) return
    this.#isReporting = true
    void this.#options.turns.run('events', this.#reportAll())
  }

  /** Also runs jobs that arrive meanwhile. */
  *#reportAll(): YieldingWork<void> {
    for (const job of this.#jobs) {
      this.#jobs.delete(job)
      yield* job.run()
      this.#waiting -= job.size
    }
    for (const chain of this.#late) {
      const { cut } = this.#options.chains
      const head = cut.get(chain)
      if (head !== undefined) yield* this.#reportMove(chain, head, { isRevert: false, places: new Map() })
      this.#late.delete(chain)
      if (cut.get(chain) !== head) this.#queueMove(chain, false)
    }
    if (this.#skipped > 0) this.#options.report({ step: 'skipped', steps: this.#skipped })
    this.#skipped = 0
    this.#isReporting = false
    if (this.#jobs.size > 0 || this.#late.size > 0) this.#plan()
    else for (const resolve of this.#onReported.splice(0)) resolve()
  }

  *#reportEntered(chain: number, transactions: readonly Transaction[]): YieldingWork<void> {
    for (const { command } of transactions) {
      this.#options.report({ step: 'pending', chain, ...describeCommand(command) })
      yield
    }
  }

  *#reportDropped(chain: number, { command }: Transaction, reason: string): YieldingWork<void> {
    yield* this.#reportOne({
      step: 'dropped',
      chain,
      ...describeCommand(command),
      reason: printable(reason, MAX_REASON_LENGTH),
    })
  }

  *#reportOne(event: TransactionEvent): YieldingWork<void> {
    this.#options.report(event)
    yield
  }

  *#reportCommands(chain: number, httpStatus: number, commands: readonly RefusedCommand[]): YieldingWork<void> {
    const count = commands.length
    for (const [index, { hash, command, fault }] of commands.entries()) {
      const reason = printable(fault, MAX_REASON_LENGTH)
      const told =
        command === null
          ? { requestKey: printable(hash, MAX_KEY), sender: null, action: null }
          : describeCommand(command)
      this.#options.report({ step: 'refused', chain, httpStatus, reason, ...told, index, count })
      yield
    }
  }

  /** Reports the changes between the last head reported and `head`. */
  *#reportMove(chain: number, head: Header, move: HeadMove): YieldingWork<void> {
    const { store } = this.#options.chains
    const before = this.#heads.get(chain)
    if (before === undefined) return
    const { left, joined } = differenceOf(store, before, head)
    for (const block of left) yield* this.#reportUndone(block, move)
    for (const block of joined.toReversed()) yield* this.#reportIncluded(block)
    this.#heads.set(chain, head)
  }

  *#reportIncluded(block: Block): YieldingWork<void> {
    const { chain, height, id, payload } = block
    const count = payload.transactions.length
    for (const [index, { transaction, output }] of payload.transactions.entries()) {
      const told = describeCommand(readStored(transaction))
      const isAgain = this.#undone.delete(told.requestKey)
      const place = { chain, height, block: id, index, count }
      this.#options.report({ step: 'included', ...told, ...place, ...outcomeOf(output), isAgain })
      yield
    }
  }

  *#reportUndone(block: Block, { isRevert, places }: HeadMove): YieldingWork<void> {
    const { chain, height, id, payload } = block
    const count = payload.transactions.length
    const by = isRevert ? 'revert' : 'reorganisation'
    for (const [index, { transaction }] of payload.transactions.entries()) {
      const told = describeCommand(readStored(transaction))
      this.#remember(told.requestKey)
      const wentTo = places.get(told.requestKey) ?? this.#placeOf(chain, told.requestKey)
      const reason = wentTo === 'nowhere' ? this.#whyNowhere(chain, transaction, isRevert) : null
      this.#options.report({ step: 'undone', ...told, chain, height, block: id, index, count, by, wentTo, reason })
      yield
    }
  }

  #whyNowhere(chain: number, transaction: Uint8Array, isRevert: boolean): string {
    if (isRevert) return REVERTED
    const returned = this.#options.pools.reviveTransaction(chain, transaction)
    return returned instanceof CommandFault ? printable(returned.message, MAX_REASON_LENGTH) : FULL
  }

  #remember(key: string): void {
    this.#undone.add(key)
    const [oldest] = this.#undone
    if (this.#undone.size > MAX_UNDONE) this.#undone.delete(oldest)
  }
}

/** Whether a new head is neither the old one nor its child. */
const hasLostBlocks = (before: Header, head: Header) =>
  !equalBytes(before.hash, head.hash) && !equalBytes(before.hash, head.parent)
