/** Which blocks hold a transaction: what the contract-state database knows while no contracts are executed. */

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
