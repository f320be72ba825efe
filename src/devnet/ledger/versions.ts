/**
 * What blocks have written: for every entry all its values, newest first, each with the block that wrote it. The state
 * of a block is, of every entry, the newest value that the block itself or one of its ancestors wrote. So there is a
 * state for every block on every branch, and nothing is ever undone.
 */
import type { LayerEntry } from '../../contracts/machine/state.ts'

export interface Version {
  /** Record number of the block that wrote it. */
  readonly record: number
  readonly value: unknown
  /** What was written before, on whatever branch. */
  readonly older: Version | null
}

export interface Versions {
  /** The value that was written last; null: none was. */
  newest(chain: number, domain: string, key: string): Version | null
  /** Every key that was ever written, in no order. */
  keys(chain: number, domain: string): Iterable<string>
  /** Adds what a block has written. */
  add(chain: number, record: number, entries: Iterable<LayerEntry>): void
}

export class MemoryVersions implements Versions {
  /** Chain -> domain -> key -> value that was written last. */
  readonly #chains = new Map<number, Map<string, Map<string, Version>>>()

  newest(chain: number, domain: string, key: string): Version | null {
    return this.#chains.get(chain)?.get(domain)?.get(key) ?? null
  }

  keys(chain: number, domain: string): Iterable<string> {
    return this.#chains.get(chain)?.get(domain)?.keys() ?? []
  }

  add(chain: number, record: number, entries: Iterable<LayerEntry>): void {
    let domains = this.#chains.get(chain)
    if (domains === undefined) {
      domains = new Map()
      this.#chains.set(chain, domains)
    }
    for (const { domain, key, value } of entries) {
      let versions = domains.get(domain)
      if (versions === undefined) {
        versions = new Map()
        domains.set(domain, versions)
      }
      versions.set(key, { record, value, older: versions.get(key) ?? null })
    }
  }
}
