/** Mempools of all chains: admission of commands, and updates when the cut moves. */
import { randomBytes } from 'node:crypto'
import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import type { Header } from '#ground/chain/header.ts'
import type { Command } from '../command/command.ts'
import { CommandFault, readCommandText } from '../command/read.ts'
import type { Chains } from '../rules/chains.ts'
import type { BlockRules, NetworkRules } from '../rules/network-rules.ts'
import { differenceOf } from '../store/difference.ts'
import { requestKeysOf, type TransactionIndex } from '../store/transaction-index.ts'
import { runAtOnce, type TimeSlicer } from '../time-slicer.ts'
import { Badlist } from './badlist.ts'
import { EXPIRED, placeFault, sealFault, termsFault } from './checks.ts'
import { blockTerms, defaultTerms, type GasTerms } from './gas-terms.ts'
import { Impersonation } from './impersonation.ts'
import { Mempool, type PoolFull } from './mempool.ts'
import {
  BADLISTED,
  checkEach,
  DROPPED,
  FULL,
  type InsertRefusal,
  type InvalidCommand,
  REVERTED,
  TIMED_OUT,
} from './refusals.ts'
import { verifyAhead } from './signatures.ts'
import { isUnverified, manySlhDsaFault, type SignedParts, verdictsOn } from './slh-dsa.ts'
import { type Transaction, transactionOf } from './transaction.ts'

/** Port: trial of a command by the ledger before it becomes pending. */
export interface DryRun {
  /** @returns why a command may not become pending, null if it may, or undefined if only `later` can tell */
  tryNow(chain: number, command: Command): string | null | undefined
  /** Like `now`, in a thread, because contract code runs before anybody has paid. */
  tryLater(chain: number, command: Command): Promise<string | null>
  /** Verifies the signatures that take long, in a thread, once. @returns why it could not, or null once it has */
  verifySignatures(chain: number, command: SignedParts): Promise<string | null>
  /** @returns why a continuation is too late (its pact is finished at the head), or null if it is not */
  pactFault(chain: number, command: Command): string | null
}

/** Maximum time for trials of refused commands in one request, in ms. A refused command pays no gas. */
const MAX_UNPAID_MS = 1000

interface MempoolsOptions {
  readonly chains: Chains
  /** Must have the transactions of a block before the block is on the cut. */
  readonly index: TransactionIndex
  readonly nowMs: () => number
  readonly trial: DryRun
  readonly turns: TimeSlicer
  readonly rules: NetworkRules
  /** Keys whose signatures are not checked. Default: none. */
  readonly impersonation?: Impersonation
}

const decoder = new TextDecoder()

/** Port: gets transactions that enter or leave a pool, unless blocks of the chain cause it. */
interface PoolListener {
  /** The transactions were accepted, and were not pending before. */
  readonly onEntered: (chain: number, transactions: readonly Transaction[]) => void
  /** The transaction leaves the pool for this reason, and is in no block. */
  readonly onDropped: (chain: number, transaction: Transaction, reason: string) => void
}

/** A pending transaction as it is written to a file. */
export interface PendingBytes {
  readonly chain: number
  /** JSON text of the command. */
  readonly bytes: Uint8Array
}

/** Chain -> its pending transactions, oldest first, and its badlisted request keys. */
type SavedPools = ReadonlyMap<number, { readonly pending: readonly Transaction[]; readonly bad: readonly string[] }>

export class Mempools {
  /** Identifies this run of the node in high-water marks: numbers of another run mean nothing. Signed, 64 bits. */
  readonly nonce = randomBytes(8).readBigInt64LE()
  /** Keys whose signatures are not checked. */
  readonly impersonation: Impersonation
  /** Demands on the gas of a command that becomes pending. */
  gas: GasTerms
  /** Gas limit of a block on the network. */
  readonly blockGas: number
  readonly #chains: Chains
  readonly #index: TransactionIndex
  readonly #nowMs: () => number
  readonly #trial: DryRun
  readonly #turns: TimeSlicer
  readonly #rules: NetworkRules
  readonly #badlists = new Map<number, Badlist>()
  readonly #pools = new Map<number, Mempool>()
  /** Chain -> the head that its pool has followed. */
  readonly #heads: Map<number, Header>
  readonly #listeners = new Set<(chain: number) => void>()
  readonly #poolListeners = new Set<PoolListener>()

  constructor({ chains, index, nowMs, trial, turns, rules, impersonation }: MempoolsOptions) {
    this.impersonation = impersonation ?? new Impersonation(undefined, [], rules.release)
    this.#chains = chains
    this.#index = index
    this.#nowMs = nowMs
    this.#trial = trial
    this.#turns = turns
    this.#rules = rules
    this.gas = defaultTerms(rules.network)
    this.blockGas = rules.network.blockGas
    this.#heads = new Map(chains.cut)
    for (const chain of chains.chainIds) {
      const onChange = () => {
        for (const listener of this.#listeners) listener(chain)
      }
      const onExpired = (transaction: Transaction) => this.#reportDropped(chain, transaction, EXPIRED)
      this.#pools.set(chain, new Mempool({ nowMs, blockGas: rules.network.blockGas, onChange, onExpired }))
      this.#badlists.set(chain, new Badlist())
    }
    chains.onCut((changed) => {
      for (const chain of changed) this.#followHead(chain)
    })
  }

  get chainIds(): readonly number[] {
    return this.#chains.chainIds
  }

  /** @throws RangeError if the network does not have the chain */
  poolOf(chain: number): Mempool {
    const pool = this.#pools.get(chain)
    if (pool === undefined) throw new RangeError(`there is no chain ${chain}`)
    return pool
  }

  /** Calls `listener` with the chain of a pool that has changed. @returns a function that unsubscribes */
  onChange(listener: (chain: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Reports arrivals and drops to `listener`. @returns a function that unsubscribes */
  listen(listener: PoolListener): () => void {
    this.#poolListeners.add(listener)
    return () => this.#poolListeners.delete(listener)
  }

  /** Accepts all of these commands, or none, without trials in a thread. @returns null if all were accepted */
  insert(chain: number, commands: readonly Command[]): InsertRefusal | null {
    for (const command of commands) if (this.#isSlow(command)) verdictsOn(command)
    const early = runAtOnce(this.#checkEntries(chain, commands))
    const refused = early ?? runAtOnce(this.#checkExecutions(chain, commands, []))
    return refused ?? this.#enter(chain, commands.map(transactionOf))
  }

  /**
   * Accepts all of these commands, or none. Checks them in time slices: a request may hold thousands of commands.
   * Threads verify signatures. Trials that need a thread come last, if everything else is in order.
   * @returns null if all were accepted
   */
  async submit(chain: number, commands: readonly Command[]): Promise<InsertRefusal | null> {
    const slow: number[] = []
    const head = this.#chains.cut.get(chain)
    const early = await this.#turns.run('commands', this.#checkEntries(chain, commands))
    if (early !== null) return early
    await Promise.all(commands.map(verifyAhead))
    const refused = await this.#turns.run('commands', this.#checkExecutions(chain, commands, slow))
    if (refused !== null) return refused
    const invalid = await this.#tryAll(chain, commands, slow)
    if (invalid.length > 0) return { invalid }
    // A block may have taken one meanwhile.
    const isSameHead = this.#chains.cut.get(chain) === head
    const late = isSameHead ? null : runAtOnce(this.#checkEntries(chain, commands))
    return late ?? this.#enter(chain, commands.map(transactionOf))
  }

  /**
   * Verifies signatures that take long, in a thread.
   * @returns why they are not verified, or null if no signature is left that takes long
   */
  verify(chain: number, command: SignedParts): Promise<string | null> | null {
    if (!this.#isSlow(command)) return null
    const fault = manySlhDsaFault(command)
    return fault === null ? this.#trial.verifySignatures(chain, command) : Promise.resolve(fault)
  }

  /** Whether signatures are left that only a thread verifies. */
  #isSlow(command: SignedParts): boolean {
    return this.#rules.release.hasSlhDsa && isUnverified(command)
  }

  /** Tries these elements in a thread. @returns those that are refused */
  async #tryAll(chain: number, commands: readonly Command[], elements: readonly number[]): Promise<InvalidCommand[]> {
    const invalid: InvalidCommand[] = []
    let unpaidMs = 0
    for (const element of elements) {
      const command = commands[element]
      const startMs = performance.now()
      const fault = unpaidMs < MAX_UNPAID_MS ? await this.#tryLater(chain, command) : TIMED_OUT
      if (fault === null) continue
      unpaidMs += performance.now() - startMs
      invalid.push({ element, hash: command.key, fault })
    }
    return invalid
  }

  async #tryLater(chain: number, command: Command): Promise<string | null> {
    const verified = this.verify(chain, command)
    const unsigned = verified && ((await verified) ?? this.#sealFault(chain, command))
    return unsigned ?? (await this.#trial.tryLater(chain, command)) ?? this.#trial.pactFault(chain, command)
  }

  /** Removes transactions that no block can hold. They are refused afterwards. @param refused request key -> reason */
  badlist(chain: number, refused: ReadonlyMap<string, string>): void {
    const pool = this.poolOf(chain)
    this.#badlists.get(chain)?.add(refused.keys())
    for (const [key, reason] of refused) {
      const transaction = pool.get(key)
      if (transaction !== undefined) this.#reportDropped(chain, transaction, reason)
    }
    pool.remove(refused.keys())
  }

  /**
   * Removes pending transactions from all pools; they may be sent again.
   * @param keys null for all of them
   * @returns chain -> request keys of the transactions that were pending
   */
  drop(keys: readonly string[] | null): Map<number, string[]> {
    const dropped = new Map<number, string[]>()
    for (const chain of this.#chains.chainIds) {
      const pool = this.poolOf(chain)
      const found = keys === null ? pool.all : [...new Set(keys)].flatMap((key) => pool.get(key) ?? [])
      if (found.length === 0) continue
      for (const each of found) this.#reportDropped(chain, each, DROPPED)
      const gone = found.map(({ key }) => key)
      pool.remove(gone)
      dropped.set(chain, gone)
    }
    return dropped
  }

  /** Accepts a privileged command of the node's owner, without any check. @returns null if it was accepted */
  admitPrivileged(chain: number, command: Command): PoolFull | null {
    this.impersonation.privilege(command)
    return this.#enter(chain, [transactionOf(command)])
  }

  /** Saves the content of all pools. */
  save(): SavedPools {
    const chains = this.#chains.chainIds
    return new Map(
      chains.map((chain) => [chain, { pending: this.poolOf(chain).all, bad: this.#badlists.get(chain)?.keys ?? [] }]),
    )
  }

  /** Restores saved pools. Call it once the cut is back at the heads of that time. */
  restore(saved: SavedPools): void {
    for (const [chain, { pending, bad }] of saved) {
      const pool = this.poolOf(chain)
      const before = this.#poolListeners.size > 0 ? pool.all : []
      this.#badlists.get(chain)?.replace(bad)
      pool.replace(pending)
      for (const each of before) if (pool.get(each.key) === undefined) this.#reportDropped(chain, each, REVERTED)
    }
  }

  /** All pending transactions, the oldest of each chain first. */
  get pending(): PendingBytes[] {
    return this.#chains.chainIds.flatMap((chain) => this.poolOf(chain).all.map(({ bytes }) => ({ chain, bytes })))
  }

  /**
   * Takes transactions that were pending in an earlier run of the network.
   * @returns for each one that may not be pending again, the reason
   */
  readmit(saved: Iterable<PendingBytes>): string[] {
    const dropped: string[] = []
    for (const { chain, bytes } of saved) {
      const found = this.#pools.has(chain)
        ? this.reviveTransaction(chain, bytes)
        : new CommandFault(`the network has no chain ${chain}`)
      if (found instanceof CommandFault) dropped.push(found.message)
      else if (this.#enter(chain, [found]) !== null) dropped.push(FULL)
    }
    return dropped
  }

  /** Prepares a revert of the cut to these heads: transactions of later blocks do not return to the pools. */
  rewind(heads: ReadonlyMap<number, Header>): void {
    for (const [chain, head] of heads) this.#heads.set(chain, head)
  }

  isBadlisted(chain: number, key: string): boolean {
    return this.#badlists.get(chain)?.has(key) ?? false
  }

  /** Checks that take little time. */
  #checkEntries(chain: number, commands: readonly Command[]) {
    return checkEach(commands, (command) => this.#enterFault(chain, command))
  }

  /** Adds the elements to `slow` that still need a trial in a thread. */
  #checkExecutions(chain: number, commands: readonly Command[], slow: number[]) {
    return checkEach(commands, (command, element) => {
      const fault = this.#executionFault(chain, command)
      if (fault === undefined) slow.push(element)
      return fault ?? null
    })
  }

  #enter(chain: number, transactions: readonly Transaction[]): PoolFull | null {
    const pool = this.poolOf(chain)
    const fresh = new Map<string, Transaction>()
    if (this.#poolListeners.size > 0) {
      for (const each of transactions) if (pool.get(each.key) === undefined) fresh.set(each.key, each)
    }
    const full = pool.insert(transactions)
    if (full === null) for (const { command } of transactions) this.impersonation.noteEntry(command)
    if (full === null && fresh.size > 0) {
      for (const { onEntered } of this.#poolListeners) onEntered(chain, [...fresh.values()])
    }
    return full
  }

  #reportDropped(chain: number, transaction: Transaction, reason: string): void {
    for (const { onDropped } of this.#poolListeners) onDropped(chain, transaction, reason)
  }

  /** @returns why a command may not enter the pool, whatever it does, or null */
  #enterFault(chain: number, command: Command, gas = this.gas): string | null {
    const { key } = command
    const fault = termsFault(command, { nowMs: this.#nowMs(), gas })
    if (fault !== null) return fault
    if (this.isOnChain(chain, key)) return 'Transaction already exists on chain'
    if (this.isBadlisted(chain, key)) return BADLISTED
    return placeFault(command, { network: this.#chains.network.name, chain })
  }

  /** @returns why no block may hold a command, null, or undefined if only a trial in a thread can tell */
  #executionFault(chain: number, command: Command): string | null | undefined {
    if (this.#isSlow(command)) return sealFault(command, this.#rulesOn(chain), () => null) ?? undefined
    const sealed = this.#sealFault(chain, command)
    // A pending command passed the trial on arrival.
    if (sealed !== null || this.poolOf(chain).get(command.key) !== undefined) return sealed
    const fault = this.#trial.tryNow(chain, command)
    return fault === null ? this.#trial.pactFault(chain, command) : fault
  }

  #sealFault(chain: number, command: Command): string | null {
    return sealFault(command, this.#rulesOn(chain), this.impersonation.fault)
  }

  /** Rules of the next block of a chain. */
  #rulesOn(chain: number): BlockRules {
    const head = this.#chains.cut.get(chain)
    if (head === undefined) throw new RangeError(`chain ${chain} does not exist`)
    return this.#rules.on(head)
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

  /** @returns the transaction of a block that the chain has lost, or why it may not be pending again */
  reviveTransaction(chain: number, transaction: Uint8Array): Transaction | CommandFault {
    const command = readCommandText(decoder.decode(transaction))
    if (command instanceof CommandFault) return command
    // The next block shows whether its gas can still be bought.
    const terms = this.#enterFault(chain, command, blockTerms(this.#rules.network))
    const fault = terms ?? sealFault(command, this.#rulesOn(chain), this.impersonation.faultInBlock)
    return fault === null ? transactionOf(command) : new CommandFault(fault)
  }

  /**
   * Removes transactions that are in the chain now. Transactions that the chain has lost return if they are still
   * valid.
   */
  #followHead(chain: number): void {
    const [before, head] = [this.#heads.get(chain), this.#chains.cut.get(chain)]
    if (before === undefined || head === undefined || equalBytes(before.hash, head.hash)) return
    this.#heads.set(chain, head)
    const { left, joined } = differenceOf(this.#chains.store, before, head)
    const pool = this.poolOf(chain)
    for (const block of joined) pool.remove(requestKeysOf(block))
    for (const block of left.toReversed()) {
      const returned = block.payload.transactions.flatMap(({ transaction }) => {
        const found = this.reviveTransaction(chain, transaction)
        return found instanceof CommandFault ? [] : [found]
      })
      // The pool is full. Older blocks came first, so drop the rest.
      if (pool.insert(returned) !== null) return
    }
  }
}
