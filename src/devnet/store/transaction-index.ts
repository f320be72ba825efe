/** Index of the blocks that hold a transaction. */
import { parsePlainJson } from '#ground/base/json.ts'
import type { Block } from './block-store.ts'
import type { StoredPayload } from './payload.ts'

export interface TransactionPlace {
  readonly chain: number
  readonly height: number
  /** Block hash as in JSON. */
  readonly block: string
  /** Position among the transactions of the block. */
  readonly index: number
}

export interface TransactionIndex {
  /** All blocks that hold the transaction with this request key, orphans included. */
  readonly find: (requestKey: string) => readonly TransactionPlace[]
  readonly add: (requestKey: string, place: TransactionPlace) => void
}

export class MemoryTransactionIndex implements TransactionIndex {
  readonly #places = new Map<string, TransactionPlace[]>()

  find(requestKey: string): readonly TransactionPlace[] {
    return this.#places.get(requestKey) ?? []
  }

  add(requestKey: string, place: TransactionPlace): void {
    const places = this.#places.get(requestKey) ?? []
    if (places.some(({ block }) => block === place.block)) return
    this.#places.set(requestKey, [...places, place])
  }
}

const decoder = new TextDecoder()

/** Adds all transactions of a block. */
export function indexBlock(index: TransactionIndex, block: Block): void {
  for (const [place, requestKey] of keysIn(block.payload).entries()) {
    if (requestKey === null) continue
    index.add(requestKey, { chain: block.chain, height: block.height, block: block.id, index: place })
  }
}

/** Request keys of the transactions in a block. */
export function requestKeysOf({ payload }: Block): string[] {
  return keysIn(payload).filter((key) => key !== null)
}

const known = new WeakMap<StoredPayload, readonly (string | null)[]>()

/**
 * Caches the request keys of a payload, in the order of its transactions: reading them takes as long as adding the
 * block.
 */
export function noteRequestKeys(payload: StoredPayload, keys: readonly string[]): void {
  known.set(payload, keys)
}

/** Request key of each transaction, or null if it has none. Cached: a new block has several readers. */
function keysIn(payload: StoredPayload): readonly (string | null)[] {
  const before = known.get(payload)
  if (before !== undefined) return before
  const keys = payload.transactions.map(({ transaction }) => requestKeyOf(transaction))
  known.set(payload, keys)
  return keys
}

/**
 * @returns the `hash` of the command, or null if the transaction is not the JSON of a command: blocks of peers may
 *   hold any bytes
 */
function requestKeyOf(transaction: Uint8Array): string | null {
  try {
    const command = parsePlainJson(decoder.decode(transaction)) as { hash?: unknown } | null
    return typeof command?.hash === 'string' ? command.hash : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
