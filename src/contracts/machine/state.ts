/**
 * Persistent state in layers: rows, modules, keysets, namespaces and pacts. A layer holds its own writes and reads all
 * else from the layer below. Dropping a layer undoes its writes.
 */

/**
 * Domains: tables as `table:` plus the qualified name, domains of the language, counters of a ledger, and headers of a
 * forked network.
 */
export type Domain =
  | `table:${string}`
  | 'tables'
  | 'modules'
  | 'keysets'
  | 'namespaces'
  | 'pacts'
  | 'counters'
  | 'headers'

/** Read access to a state: a layer, or the storage of a ledger. */
export interface ReadableState {
  /** @returns undefined if there is no such entry */
  get<T>(domain: Domain, key: string): T | undefined
  /** All keys of a domain, ordered by UTF-16 code units. */
  keys(domain: Domain): string[]
}

export const emptyState: ReadableState = { get: () => undefined, keys: () => [] }

export interface LayerEntry {
  readonly domain: Domain
  readonly key: string
  readonly value: unknown
}

export class Layer implements ReadableState {
  readonly #below: ReadableState
  readonly #domains = new Map<Domain, Map<string, unknown>>()

  constructor(below: ReadableState = emptyState) {
    this.#below = below
  }

  get<T>(domain: Domain, key: string): T | undefined {
    const own = this.#domains.get(domain)?.get(key)
    return own === undefined ? this.#below.get<T>(domain, key) : (own as T)
  }

  /** @param value anything but undefined */
  put(domain: Domain, key: string, value: unknown): void {
    let entries = this.#domains.get(domain)
    if (entries === undefined) {
      entries = new Map()
      this.#domains.set(domain, entries)
    }
    entries.set(key, value)
  }

  keys(domain: Domain): string[] {
    const own = this.#domains.get(domain)
    const below = this.#below.keys(domain)
    return own === undefined ? below : [...new Set([...below, ...own.keys()])].sort()
  }

  /** All entries of this layer; keys of a domain in the order of their first write. */
  entries(): LayerEntry[] {
    const all: LayerEntry[] = []
    for (const [domain, entries] of this.#domains) {
      for (const [key, value] of entries) all.push({ domain, key, value })
    }
    return all
  }

  /** Writes all entries of this layer into the layer below it. */
  mergeInto(below: Layer): void {
    for (const [domain, entries] of this.#domains) {
      for (const [key, value] of entries) below.put(domain, key, value)
    }
  }
}
