/**
 * Cache of recently used values: it keeps at least `least` entries, and at most twice as many. It has two generations,
 * because a Map that loses its oldest entry with every new one becomes slow: it walks over all the slots it has freed.
 */
export class Recent<V> {
  readonly #least: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** @param least entries kept at least, once there were this many */
  constructor(least: number) {
    this.#least = least
  }

  /** @returns undefined if the key is not cached */
  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  /** @param value anything except undefined */
  set(key: string, value: V): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#least) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
