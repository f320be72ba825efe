/** The memory pools of all chains: what may come in, and what leaves or returns when the cut moves. */
import { randomBytes } from 'node:crypto'
import { encodeBase64Url, equalBytes } from '../../core/bytes.ts'
import type { Header } from '../../core/header.ts'
import type { Command } from '../command/command.ts'
import { CommandFault, readCommandText } from '../command/read.ts'
import type { Chains } from '../rules/chains.ts'
import type { ReleaseRules } from '../rules/releases.ts'
import { differenceOf } from '../store/difference.ts'
import { requestKeysOf, type TransactionIndex } from '../store/transaction-index.ts'
import type { TimeSlicer, YieldingWork } from '../time-slicer.ts'
import { Badlist } from './badlist.ts'
import { EXPIRED, placeFault, sealFault, termsFault } from './checks.ts'
import { type Full, Mempool } from './mempool.ts'
import { type Transaction, transactionOf } from './transaction.ts'

/** Port: what the ledger knows of a command before it is pending. */
export interface Trial {
  /** Why the gas of a command cannot be bought on the head of the chain; null: it can. */
  gasFault(chain: number, command: Command): string | null
  /** Why a continuation is too late: its pact is finished at the head of the chain. null: it is not. */
  pactFault(chain: number, command: Command): string | null
}

/** For pools without a ledger: every command may run. */
export const noTrial: Trial = {
  gasFault: () => null,
  pactFault: () => null,
}

export interface MempoolsOptions {
  readonly chains: Chains
  /** Holds the transactions of a block before the block is on the cut. */
  readonly index: TransactionIndex
  readonly nowMs: () => number
  readonly trial: Trial
  readonly turns: TimeSlicer
  /** What the release that the network follows does differently from others. */
  readonly release: ReleaseRules
}

const decoder = new TextDecoder()

/** Port: hears of transactions that come into a pool or leave it, other than by blocks of the chain. */
export interface PoolListener {
  /** They were sent and taken, and were not pending before. */
  readonly onEntered: (chain: number, transactions: readonly Transaction[]) => void
  /** It leaves the pool for this reason, and no block has it. */
  readonly onDropped: (chain: number, transaction: Transaction, reason: string) => void
}

/** Why transactions leave the pools that were sent after a snapshot. */
export const REVERTED = 'the network went back to a snapshot'

/** Why a transaction is not taken again that no block could hold. */
export const BADLISTED = 'Transaction is badlisted because it previously failed to validate.'

/** A command that may not be executed: its place in the request, its request key, and why. */
export interface RefusedEntry {
  readonly element: number
  readonly hash: string
  readonly fault: string
}

/** Why commands are not taken: some may not be executed, or there is no room for them. */
export type InsertRefused = { readonly invalid: readonly RefusedEntry[] } | Full

/** Chain -> its pending transactions, oldest first, and keys of those that no block could hold. */
export type SavedPools = ReadonlyMap<
  number,
  { readonly pending: readonly Transaction[]; readonly bad: readonly string[] }
>

export class Mempools {
  /** Names this run of the node in marks: numbers of another run mean nothing. Signed, 64 bits. */
  readonly nonce = randomBytes(8).readBigInt64LE()
  readonly #chains: Chains
  readonly #index: TransactionIndex
  readonly #nowMs: () => number
  readonly #trial: Trial
  readonly #turns: TimeSlicer
  readonly #release: ReleaseRules
  readonly #badlists = new Map<number, Badlist>()
  readonly #pools = new Map<number, Mempool>()
  /** Chain -> the head that its pool knows. */
  readonly #heads: Map<number, Header>
  readonly #listeners = new Set<(chain: number) => void>()
  readonly #poolListeners = new Set<PoolListener>()

  constructor({ chains, index, nowMs, trial, turns, release }: MempoolsOptions) {
    this.#chains = chains
    this.#index = index
    this.#nowMs = nowMs
    this.#trial = trial
    this.#turns = turns
    this.#release = release
    this.#heads = new Map(chains.cut)
    for (const chain of chains.chainIds) {
      const onChange = () => {
        for (const listener of this.#listeners) listener(chain)
      }
      const onExpired = (transaction: Transaction) => this.#tellDropped(chain, transaction, EXPIRED)
      this.#pools.set(chain, new Mempool({ nowMs, onChange, onExpired }))
      this.#badlists.set(chain, new Badlist())
    }
    chains.onCut((changed) => {
      for (const chain of changed) this.#follow(chain)
    })
  }

  /** Throws RangeError for a chain that the network does not have. */
  of(chain: number): Mempool {
    const pool = this.#pools.get(chain)
    if (pool === undefined) throw new RangeError(`there is no chain ${chain}`)
    return pool
  }

  /** Calls `listener` with the chain when something enters or leaves its pool. Returns a function that ends it. */
  onChange(listener: (chain: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells `listener` what comes and goes. Returns a function that ends it. */
  listen(listener: PoolListener): () => void {
    this.#poolListeners.add(listener)
    return () => this.#poolListeners.delete(listener)
  }

  /** Takes all of these commands, or none. null: all are taken. */
  insert(chain: number, commands: readonly Command[]): InsertRefused | null {
    const steps = this.#take(chain, commands)
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
    }
  }

  /** As insert, in short slices: a request may bring thousands, and each has signatures and a trial. */
  submit(chain: number, commands: readonly Command[]): Promise<InsertRefused | null> {
    return this.#turns.run('commands', this.#take(chain, commands))
  }

  /** Removes transactions that no block can hold, each with the reason; they are not taken again. */
  badlist(chain: number, refused: ReadonlyMap<string, string>): void {
    const pool = this.of(chain)
    this.#badlists.get(chain)?.add(refused.keys())
    for (const [key, reason] of refused) {
      const transaction = pool.get(key)
      if (transaction !== undefined) this.#tellDropped(chain, transaction, reason)
    }
    pool.remove(refused.keys())
  }

  /** What all pools hold now. */
  save(): SavedPools {
    const chains = this.#chains.chainIds
    return new Map(
      chains.map((chain) => [chain, { pending: this.of(chain).all, bad: this.#badlists.get(chain)?.keys ?? [] }]),
    )
  }

  /** Holds what was saved and nothing else; call it when the cut has moved back to what it was then. */
  restore(saved: SavedPools): void {
    for (const [chain, { pending, bad }] of saved) {
      const pool = this.of(chain)
      const before = this.#poolListeners.size > 0 ? pool.all : []
      this.#badlists.get(chain)?.replace(bad)
      pool.replace(pending)
      for (const each of before) if (pool.get(each.key) === undefined) this.#tellDropped(chain, each, REVERTED)
    }
  }

  /** The cut is about to go back to these heads: what its blocks held does not return to the pools. */
  rewind(heads: ReadonlyMap<number, Header>): void {
    for (const [chain, head] of heads) this.#heads.set(chain, head)
  }

  isBadlisted(chain: number, key: string): boolean {
    return this.#badlists.get(chain)?.has(key) ?? false
  }

  /** Yields after each command that it has looked at. */
  *#take(chain: number, commands: readonly Command[]): YieldingWork<InsertRefused | null> {
    for (const faultOf of [this.#enterFault, this.#executionFault]) {
      const invalid: RefusedEntry[] = []
      for (const [element, command] of commands.entries()) {
        const fault = faultOf.call(this, chain, command)
        if (fault !== null) invalid.push({ element, hash: command.key, fault })
        yield
      }
      if (invalid.length > 0) return { invalid }
    }
    return this.#enter(chain, commands.map(transactionOf))
  }

  #enter(chain: number, transactions: readonly Transaction[]): Full | null {
    const pool = this.of(chain)
    const fresh = new Map<string, Transaction>()
    if (this.#poolListeners.size > 0) {
      for (const each of transactions) if (pool.get(each.key) === undefined) fresh.set(each.key, each)
    }
    const full = pool.insert(transactions)
    if (full === null && fresh.size > 0) {
      for (const { onEntered } of this.#poolListeners) onEntered(chain, [...fresh.values()])
    }
    return full
  }

  #tellDropped(chain: number, transaction: Transaction, reason: string): void {
    for (const { onDropped } of this.#poolListeners) onDropped(chain, transaction, reason)
  }

  /** What keeps a command out of the pool, whatever it does. */
  #enterFault(chain: number, command: Command): string | null {
    const { key } = command
    const fault = termsFault(command, { nowMs: this.#nowMs() })
    if (fault !== null) return fault
    if (this.isOnChain(chain, key)) return 'Transaction already exists on chain'
    if (this.isBadlisted(chain, key)) return BADLISTED
    return placeFault(command, { network: this.#chains.network.name, chain })
  }

  /** What keeps it out of every block. */
  #executionFault(chain: number, command: Command): string | null {
    // It was tried when it came.
    if (this.of(chain).get(command.key) !== undefined) return sealFault(command, this.#release)
    const fault = command.payload.kind === 'exec' ? command.payload.code.fault : null
    if (fault !== null) return `Pact parse error: ${fault}`
    return (
      sealFault(command, this.#release) ?? this.#trial.gasFault(chain, command) ?? this.#trial.pactFault(chain, command)
    )
  }

  /** Whether a transaction is in a block on the branch of the head. */
  isOnChain(chain: number, key: string): boolean {
    const head = this.#chains.cut.get(chain)
    for (const place of this.#index.find(key)) {
      if (head === undefined || place.chain !== chain || place.height > Number(head.height)) continue
      if (encodeBase64Url(this.#chains.ancestor(head.hash, place.height).hash) === place.block) return true
    }
    return false
  }

  /** A transaction of a block that the chain has lost, or why it may not be pending again. */
  returned(chain: number, transaction: Uint8Array): Transaction | CommandFault {
    const command = readCommandText(decoder.decode(transaction))
    if (command instanceof CommandFault) return command
    // Whether its gas can still be bought shows when the next block is made.
    const fault = this.#enterFault(chain, command) ?? sealFault(command, this.#release)
    return fault === null ? transactionOf(command) : new CommandFault(fault)
  }

  /** Removes transactions that are in the chain now. Those that the chain has lost return, if they are still valid. */
  #follow(chain: number): void {
    const [before, head] = [this.#heads.get(chain), this.#chains.cut.get(chain)]
    if (before === undefined || head === undefined || equalBytes(before.hash, head.hash)) return
    this.#heads.set(chain, head)
    const { left, joined } = differenceOf(this.#chains.store, before, head)
    const pool = this.of(chain)
    for (const block of joined) pool.remove(requestKeysOf(block))
    for (const block of left.toReversed()) {
      const returned = block.payload.transactions.flatMap(({ transaction }) => {
        const found = this.returned(chain, transaction)
        return found instanceof CommandFault ? [] : [found]
      })
      // A full pool stays as it is: older blocks came first.
      if (pool.insert(returned) !== null) return
    }
  }
}
