/**
 * Cache of recently used entries by place and key. Like `Recent` (store/recent.ts), but without a joined name: joining
 * and hashing a long key at each look-up would cost as much as reading it.
 */

/** A long key takes the room of several short ones. */
const CHARACTERS_PER_ENTRY = 256

interface Generation<V> {
  readonly places: Map<string, Map<string, V>>
  size: number
}

const empty = <V>(): Generation<V> => ({ places: new Map(), size: 0 })

export class RecentEntries<V> {
  readonly #least: number
  #young = empty<V>()
  #old = empty<V>()

  /** @param least entries with short keys that are kept at least, once there were this many */
  constructor(least: number) {
    this.#least = least
  }

  /** @returns undefined if the entry is not cached */
  get(place: string, key: string): V | undefined {
    const young = this.#young.places.get(place)?.get(key)
    if (young !== undefined) return young
    const old = this.#old.places.get(place)?.get(key)
    if (old !== undefined) this.set(place, key, old)
    return old
  }

  /** @param value anything except undefined */
  set(place: string, key: string, value: V): void {
    const young = this.#young
    let entries = young.places.get(place)
    if (entries === undefined) {
      entries = new Map()
      young.places.set(place, entries)
    }
    if (!entries.has(key)) young.size += 1 + Math.floor(key.length / CHARACTERS_PER_ENTRY)
    entries.set(key, value)
    if (young.size < this.#least) return
    this.#old = young
    this.#young = empty()
  }
}
