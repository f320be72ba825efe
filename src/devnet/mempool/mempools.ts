/** The memory pools of all chains: what may come in, and what leaves or returns when the cut moves. */
import { randomBytes } from 'node:crypto'
import { encodeBase64Url, equalBytes } from '../../core/bytes.ts'
import type { Header } from '../../core/header.ts'
import type { Chains } from '../rules/chains.ts'
import type { Block } from '../store/block-store.ts'
import { requestKeysOf, type TransactionIndex } from '../store/transaction-index.ts'
import { Fault, readCommand, type Transaction } from './command.ts'
import { type Full, Mempool } from './mempool.ts'

export interface MempoolsOptions {
  readonly chains: Chains
  /** Holds the transactions of a block before the block is on the cut. */
  readonly index: TransactionIndex
  readonly nowMs: () => number
}

const decoder = new TextDecoder()

/** Why commands are not taken: one of them is wrong, or there is no room for them. */
export type InsertRefused = { readonly element: number; readonly fault: string } | Full

export class Mempools {
  /** Names this run of the node in marks: numbers of another run mean nothing. Signed, 64 bits. */
  readonly nonce = randomBytes(8).readBigInt64LE()
  readonly #chains: Chains
  readonly #index: TransactionIndex
  readonly #nowMs: () => number
  readonly #pools = new Map<number, Mempool>()
  /** Chain -> the head that its pool knows. */
  readonly #heads: Map<number, Header>
  readonly #listeners = new Set<(chain: number) => void>()

  constructor({ chains, index, nowMs }: MempoolsOptions) {
    this.#chains = chains
    this.#index = index
    this.#nowMs = nowMs
    this.#heads = new Map(chains.cut)
    for (const chain of chains.chainIds) {
      const onChange = () => {
        for (const listener of this.#listeners) listener(chain)
      }
      this.#pools.set(chain, new Mempool({ nowMs, onChange }))
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

  /** Takes all of these JSON texts of signed commands, or none. null: all are taken. */
  insert(chain: number, texts: readonly string[]): InsertRefused | null {
    const transactions: Transaction[] = []
    for (const [i, text] of texts.entries()) {
      const transaction = this.#read(chain, text)
      if (transaction instanceof Fault) return { element: i, fault: transaction.message }
      transactions.push(transaction)
    }
    return this.of(chain).insert(transactions)
  }

  /** Removes transactions that no block can hold, for good. */
  badlist(chain: number, keys: readonly string[]): void {
    this.of(chain).remove(keys)
  }

  #read(chain: number, text: string): Transaction | Fault {
    const destination = { network: this.#chains.network.name, chain, nowMs: this.#nowMs() }
    const transaction = readCommand(text, destination)
    if (transaction instanceof Fault) return transaction
    const block = this.#blockWith(chain, transaction.key)
    return block === null ? transaction : new Fault(`the transaction ${transaction.key} is in block ${block} already`)
  }

  /** The block on the cut's branch that holds a transaction, as in JSON. */
  #blockWith(chain: number, key: string): string | null {
    const head = this.#chains.cut.get(chain)
    for (const place of this.#index.find(key)) {
      if (head === undefined || place.chain !== chain || place.height > Number(head.height)) continue
      if (encodeBase64Url(this.#chains.ancestor(head.hash, place.height).hash) === place.block) return place.block
    }
    return null
  }

  /** Removes transactions that are in the chain now. Those that the chain has lost return, if they are still valid. */
  #follow(chain: number): void {
    const [before, head] = [this.#heads.get(chain), this.#chains.cut.get(chain)]
    if (before === undefined || head === undefined || equalBytes(before.hash, head.hash)) return
    this.#heads.set(chain, head)
    const { left, joined } = this.#difference(before, head)
    const pool = this.of(chain)
    for (const block of joined) pool.remove(requestKeysOf(block))
    for (const block of left.toReversed()) {
      const returned = block.payload.transactions
        .map(({ transaction }) => this.#read(chain, decoder.decode(transaction)))
        .filter((each): each is Transaction => !(each instanceof Fault))
      // A full pool stays as it is: older blocks came first.
      if (pool.insert(returned) !== null) return
    }
  }

  /** The blocks of both branches down to where they meet, newest first. */
  #difference(before: Header, head: Header): { left: Block[]; joined: Block[] } {
    const { store } = this.#chains
    const [left, joined]: [Block[], Block[]] = [[], []]
    let [old, now] = [store.get(before.hash), store.get(head.hash)]
    while (old !== undefined && now !== undefined && !equalBytes(old.hash, now.hash)) {
      if (old.height >= now.height) {
        left.push(old)
        old = store.parentOf(old)
      } else {
        joined.push(now)
        now = store.parentOf(now)
      }
    }
    return { left, joined }
  }
}
