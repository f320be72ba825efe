/**
 * What outlives a command: rows, modules, keysets, namespaces and pacts, in layers. A layer holds what was written since
 * it was begun; what it does not hold is that of the layer below. To undo is to drop a layer.
 */

/** Domains: tables by their qualified name with `table:` before it, and those of the language itself. */
export type Domain = `table:${string}` | 'tables' | 'modules' | 'keysets' | 'namespaces' | 'pacts'

export class Layer {
  readonly #below: Layer | null
  readonly #domains = new Map<Domain, Map<string, unknown>>()

  constructor(below: Layer | null = null) {
    this.#below = below
  }

  get<T>(domain: Domain, key: string): T | undefined {
    for (let layer: Layer | null = this; layer !== null; layer = layer.#below) {
      const entries = layer.#domains.get(domain)
      if (entries?.has(key)) return entries.get(key) as T
    }
    return undefined
  }

  put(domain: Domain, key: string, value: unknown): void {
    let entries = this.#domains.get(domain)
    if (entries === undefined) {
      entries = new Map()
      this.#domains.set(domain, entries)
    }
    entries.set(key, value)
  }

  /** All keys of a domain, in the order of their code units. */
  keys(domain: Domain): string[] {
    const keys = new Set<string>()
    for (let layer: Layer | null = this; layer !== null; layer = layer.#below) {
      for (const key of layer.#domains.get(domain)?.keys() ?? []) keys.add(key)
    }
    return [...keys].sort()
  }

  /** Writes all that this layer holds into the one below, which it was begun on. */
  merge(): void {
    const below = this.#below
    if (below === null) return
    for (const [domain, entries] of this.#domains) {
      for (const [key, value] of entries) below.put(domain, key, value)
    }
  }
}
