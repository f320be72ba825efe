/** Which blocks hold a transaction: what the contract-state database knows while no contracts are executed. */
import type { Chains } from './chains.ts'

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

/** Adds the transactions of every block that is inserted from now on, before the block is on the cut. */
export function indexTransactions(chains: Chains, index: TransactionIndex): void {
  chains.onBlock(({ chain, height, id, payload }) => {
    for (const { transaction } of payload.transactions)
      index.add(requestKeyOf(transaction), { chain, height, block: id })
  })
}

const decoder = new TextDecoder()

/** The request key of a transaction in a payload: the hash of the command. */
export function requestKeyOf(transaction: Uint8Array): string {
  return (JSON.parse(decoder.decode(transaction)) as { hash: string }).hash
}
