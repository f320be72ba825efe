/**
 * Pending transactions of one chain. Each gets a number on arrival, from 1. The high-water mark of a pool is the last
 * number given; a request since a mark gets the transactions with higher numbers (PROTOCOL.md E.1).
 */
import type { Transaction } from './transaction.ts'

/** Maximum transactions in a pool, as in live nodes. */
const MAX_POOL_TRANSACTIONS = 10_000
/** Maximum bytes of transactions in a pool: they live in memory, on up to a hundred chains. */
const MAX_POOL_BYTES = 16 * 1024 * 1024
/** Maximum transactions in a block, and their bytes. Live nodes only have the gas limit, which allows 15 MB. */
const MAX_BLOCK_TRANSACTIONS = 512
const MAX_BLOCK_BYTES = 2 * 1024 * 1024

interface PoolEntry extends Transaction {
  readonly id: number
  /** Time of arrival by the clock of the node. */
  readonly sinceMs: number
}

interface PendingKeys {
  /** Request keys, oldest first. */
  readonly hashes: readonly string[]
  readonly newest: number
}

/** The pool is full; `full` has its limits. */
export interface PoolFull {
  readonly full: { readonly transactions: number; readonly bytes: number }
}

export class Mempool {
  /** Oldest first. */
  readonly #entries = new Map<string, PoolEntry>()
  /** Id of a pact -> the pending transactions that continue it, by request key. */
  readonly #continuing = new Map<string, Map<string, PoolEntry>>()
  readonly #nowMs: () => number
  readonly #blockGas: number
  readonly #onChange: () => void
  readonly #onExpired: (transaction: Transaction) => void
  #newest = 0
  #bytes = 0
  #nextExpiryMs = Number.POSITIVE_INFINITY
  #block: readonly Transaction[] = []
  #isBlockCurrent = true
  /** null if not sorted since the last change. */
  #sorted: readonly Transaction[] | null = null

  /** Calls `onExpired` with each expired transaction before removing it. */
  constructor({
    nowMs,
    blockGas,
    onChange,
    onExpired,
  }: {
    nowMs: () => number
    /** Gas limit of a block. */
    blockGas: number
    onChange: () => void
    onExpired: (transaction: Transaction) => void
  }) {
    this.#nowMs = nowMs
    this.#blockGas = blockGas
    this.#onChange = onChange
    this.#onExpired = onExpired
  }

  get size(): number {
    this.#dropExpired()
    return this.#entries.size
  }

  get(key: string): Transaction | undefined {
    this.#dropExpired()
    return this.#entries.get(key)
  }

  /** Transactions that continue a pact, oldest first. */
  continuing(pactId: string): readonly Transaction[] {
    this.#dropExpired()
    return [...(this.#continuing.get(pactId)?.values() ?? [])]
  }

  /** Adds all that are not pending yet, or none if there is no room. @returns null if all are pending now */
  insert(transactions: readonly Transaction[]): PoolFull | null {
    this.#dropExpired()
    const added = new Map<string, Transaction>()
    for (const each of transactions) if (!this.#entries.has(each.key)) added.set(each.key, each)
    if (added.size === 0) return null
    const total = [...added.values()].reduce((sum, { bytes }) => sum + bytes.length, this.#bytes)
    if (this.#entries.size + added.size > MAX_POOL_TRANSACTIONS || total > MAX_POOL_BYTES) {
      return { full: { transactions: MAX_POOL_TRANSACTIONS, bytes: MAX_POOL_BYTES } }
    }
    const sinceMs = this.#nowMs()
    for (const [key, transaction] of added) {
      const entry = Object.assign({}, transaction, { id: ++this.#newest, sinceMs })
      this.#entries.set(key, entry)
      this.#indexPact(entry)
      this.#nextExpiryMs = Math.min(this.#nextExpiryMs, transaction.expiresAtMs)
    }
    this.#bytes = total
    this.#noteChange()
    return null
  }

  /** All pending transactions, oldest first. */
  get all(): readonly Transaction[] {
    this.#dropExpired()
    return [...this.#entries.values()]
  }

  /** Replaces all transactions. They get new numbers, so that peers see them. */
  replace(transactions: readonly Transaction[]): void {
    this.#entries.clear()
    this.#continuing.clear()
    this.#bytes = 0
    this.#noteChange()
    this.insert(transactions)
  }

  remove(keys: Iterable<string>): void {
    let isChanged = false
    for (const key of keys) {
      const entry = this.#entries.get(key)
      if (entry === undefined) continue
      this.#entries.delete(key)
      this.#unindexPact(entry)
      this.#bytes -= entry.bytes.length
      isChanged = true
    }
    if (isChanged) this.#noteChange()
  }

  /**
   * Pending request keys, or only those after number `since`. A number that was never given is not a mark of this pool, so
   * the result then has all of them.
   */
  pending(since: bigint | null): PendingKeys {
    this.#dropExpired()
    const after = since === null || since > BigInt(this.#newest) ? 0n : since
    const entries = [...this.#entries.values()].filter(({ id }) => BigInt(id) > after)
    return { hashes: entries.map(({ key }) => key), newest: this.#newest }
  }

  /** The latest arrivals, newest first. */
  newest(limit: number): readonly (Transaction & { readonly sinceMs: number })[] {
    this.#dropExpired()
    return [...this.#entries.values()].slice(-limit).reverse()
  }

  /** All pending transactions: highest gas price first, older ones first among equals. */
  get byPrice(): readonly Transaction[] {
    this.#dropExpired()
    this.#sorted ??= [...this.#entries.values()].sort((a, b) => b.gasPrice - a.gasPrice || a.id - b.id)
    return this.#sorted
  }

  /**
   * Transactions of the next block: as many as fit if each uses its gas limit. Highest gas price first, older ones
   * first among equals. Returns the same array until the choice changes.
   */
  get nextBlock(): readonly Transaction[] {
    this.#dropExpired()
    if (this.#isBlockCurrent) return this.#block
    this.#isBlockCurrent = true
    const chosen: Transaction[] = []
    let [gasLeft, bytesLeft] = [this.#blockGas, MAX_BLOCK_BYTES]
    for (const entry of this.byPrice) {
      if (chosen.length === MAX_BLOCK_TRANSACTIONS) break
      const { gasLimit } = entry.command.meta
      if (gasLimit > gasLeft || entry.bytes.length > bytesLeft) continue
      chosen.push(entry)
      gasLeft -= gasLimit
      bytesLeft -= entry.bytes.length
    }
    if (!sameTransactions(chosen, this.#block)) this.#block = chosen
    return this.#block
  }

  #indexPact(entry: PoolEntry): void {
    const { payload } = entry.command
    if (payload.kind !== 'cont') return
    const others = this.#continuing.get(payload.pactId) ?? new Map<string, PoolEntry>()
    this.#continuing.set(payload.pactId, others.set(entry.key, entry))
  }

  #unindexPact({ key, command: { payload } }: PoolEntry): void {
    if (payload.kind !== 'cont') return
    const others = this.#continuing.get(payload.pactId)
    others?.delete(key)
    if (others?.size === 0) this.#continuing.delete(payload.pactId)
  }

  /** Scans the pool only once something in it has expired. */
  #dropExpired(): void {
    const nowMs = this.#nowMs()
    if (nowMs < this.#nextExpiryMs) return
    this.#nextExpiryMs = Number.POSITIVE_INFINITY
    const expired: string[] = []
    for (const entry of this.#entries.values()) {
      if (entry.expiresAtMs > nowMs) {
        this.#nextExpiryMs = Math.min(this.#nextExpiryMs, entry.expiresAtMs)
        continue
      }
      expired.push(entry.key)
      this.#onExpired(entry)
    }
    this.remove(expired)
  }

  #noteChange(): void {
    this.#isBlockCurrent = false
    this.#sorted = null
    this.#onChange()
  }
}

export function sameTransactions(a: readonly Transaction[], b: readonly Transaction[]): boolean {
  return a.length === b.length && a.every(({ key }, i) => key === b[i].key)
}
