/** Which blocks hold a transaction: what the contract-state database knows while no contracts are executed. */
import type { Block } from './store.ts'

export interface TransactionPlace {
  readonly chain: number
  readonly height: number
  /** Block hash as in JSON. */
  readonly block: string
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
  for (const requestKey of requestKeysOf(block)) {
    index.add(requestKey, { chain: block.chain, height: block.height, block: block.id })
  }
}

/** Request keys of the transactions in a block. A transaction is the JSON of a signed command; its hash is the key. */
export function requestKeysOf({ payload }: Block): string[] {
  return payload.transactions.map(
    ({ transaction }) => (JSON.parse(decoder.decode(transaction)) as { hash: string }).hash,
  )
}
