/**
 * What outlives a command: rows, modules, keysets, namespaces and pacts, in layers. A layer holds what was written since
 * it was begun; what it does not hold is that of the layer below. To undo is to drop a layer.
 */

/** Domains: tables by their qualified name with `table:` before it, those of the language itself, and counters of a ledger. */
export type Domain = `table:${string}` | 'tables' | 'modules' | 'keysets' | 'namespaces' | 'pacts' | 'counters'

/** A state that can be read: a layer, or whatever a ledger keeps its blocks in. */
export interface ReadableState {
  /** undefined: there is no such entry. */
  get<T>(domain: Domain, key: string): T | undefined
  /** All keys of a domain, in the order of their code units. */
  keys(domain: Domain): string[]
}

/** Nothing yet. */
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

  /** `value`: anything but undefined. */
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

  /** All that this layer holds, in the order in which the keys of each domain were first written. */
  *entries(): Generator<LayerEntry> {
    for (const [domain, entries] of this.#domains) {
      for (const [key, value] of entries) yield { domain, key, value }
    }
  }

  /** Writes all that this layer holds into the one below, which it was begun on. */
  mergeInto(below: Layer): void {
    for (const { domain, key, value } of this.entries()) below.put(domain, key, value)
  }
}
