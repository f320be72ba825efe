/** Request keys of transactions that no block can hold. */

/** Maximum keys for each chain: as many as a full pool. A forgotten one is tried and refused again. */
const MAX_KEYS = 10_000

export class Badlist {
  /** Oldest first. */
  readonly #keys = new Set<string>()

  add(keys: Iterable<string>): void {
    for (const key of keys) this.#keys.add(key)
    for (const oldest of this.#keys) {
      if (this.#keys.size <= MAX_KEYS) return
      this.#keys.delete(oldest)
    }
  }

  get keys(): readonly string[] {
    return [...this.#keys]
  }

  /** Replaces all keys. */
  replace(keys: Iterable<string>): void {
    this.#keys.clear()
    this.add(keys)
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }
}
