/**
 * Versions of contract-state entries: all values of each entry, newest first, with the block that wrote each.
 *
 * The state of a block has the newest value of each entry that the block or one of its ancestors wrote. So every block
 * on every branch has a state, and nothing is ever undone.
 */
import type { LayerEntry } from '#language/contracts/machine/state.ts'

export interface Version {
  /** Record number of the block that wrote it. */
  readonly record: number
  readonly value: unknown
  /** Previous value, of any branch. */
  readonly older: Version | null
}

export interface Versions {
  /** @returns the last value written, or null if there is none */
  newest(chain: number, domain: string, key: string): Version | null
  /** Every key ever written, in any order. */
  keys(chain: number, domain: string): Iterable<string>
  /** Adds the writes of a block. */
  add(chain: number, record: number, entries: Iterable<LayerEntry>): void
}

export class MemoryVersions implements Versions {
  /** Chain -> domain -> key -> the last value written. */
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
