/**
 * What was used lately, by a key: at least so many entries, and at most twice as many. In two generations: a Map that
 * loses its oldest entry with every new one becomes slow, since it walks over the places of all that it has lost.
 */
export class Recent<V> {
  readonly #least: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** `least`: entries that are kept at least, if there were so many. */
  constructor(least: number) {
    this.#least = least
  }

  /** undefined: it is not kept. */
  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  /** `value`: anything but undefined. */
  set(key: string, value: V): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#least) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
