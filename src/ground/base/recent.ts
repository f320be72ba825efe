/**
 * Cache of recently used values, bounded by their weight. It has two generations, because a Map that loses its oldest
 * entry with every new one becomes slow: it walks over all the slots that it has freed.
 */

/** Where a generation keeps its entries: a Map, or a table with keys of several parts. */
export interface RecentTable<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

interface RecentOptions<K, V> {
  /** Weight of a full generation. The cache holds its newest entries of this weight, and at most twice as much. */
  readonly full: number
  /** Weight of an entry. Default: 1. */
  readonly weigh?: (key: K, value: V) => number
  /** Makes an empty generation. Default: a Map. */
  readonly table?: () => RecentTable<K, V>
}

export class RecentItems<K, V> {
  readonly #options: Required<RecentOptions<K, V>>
  #young: RecentTable<K, V>
  #old: RecentTable<K, V>
  /** Weight of the young generation. A value that replaces another one counts too. */
  #weight = 0

  constructor({ full, weigh = () => 1, table = () => new Map<K, V>() }: RecentOptions<K, V>) {
    this.#options = { full, weigh, table }
    this.#young = table()
    this.#old = table()
  }

  /** @returns undefined if the key is not cached */
  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  has(key: K): boolean {
    return this.get(key) !== undefined
  }

  /** @param value anything except undefined */
  set(key: K, value: V): void {
    const { full, weigh, table } = this.#options
    this.#young.set(key, value)
    this.#weight += weigh(key, value)
    if (this.#weight < full) return
    this.#old = this.#young
    this.#young = table()
    this.#weight = 0
  }
}
