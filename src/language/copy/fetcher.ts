/** Fetches missing entries of a chain at its pin, and more of what the same run will probably read. */
import type { Domain } from '../contracts/machine/state.ts'
import { domainOf } from './domains.ts'
import type { EntrySource } from './entries.ts'
import { fetchModules } from './module-fetch.ts'
import type { PinnedCaller } from './pinned-caller.ts'

/** An entry, or with key null the keys of a domain. */
export interface CacheMiss {
  readonly domain: Domain
  readonly key: string | null
}

export class Fetcher {
  readonly #source: EntrySource
  /** Entry -> the request that fetches it. */
  readonly #flights = new Map<string, Promise<void>>()

  constructor(source: EntrySource) {
    this.#source = source
  }

  get caller(): PinnedCaller {
    return this.#source.caller
  }

  /**
   * Fetches an entry. A second call for the same entry waits for the first.
   * @param hints texts of the code that misses it: probably keys of other rows
   * @throws NewcutError if the node cannot supply it
   */
  async fetch({ domain, key }: CacheMiss, hints: readonly string[] = []): Promise<void> {
    const flight = `${domain}|${key}`
    const before = this.#flights.get(flight)
    if (before !== undefined) return before
    const fetching = domainOf(domain)
      .ask(this.#source, key, hints)
      .finally(() => this.#flights.delete(flight))
    this.#flights.set(flight, fetching)
    await fetching
    this.#source.entries.save()
  }

  /** Full names of all modules of the chain. @throws like fetch */
  async moduleNames(): Promise<readonly string[]> {
    const { moduleNames } = this.#source.entries
    if (moduleNames.get() === undefined) await this.fetch({ domain: 'modules', key: null })
    return moduleNames.expect()
  }

  /** Fetches those of these modules that are not cached, and what they depend on. */
  async fetchModules(names: readonly string[]): Promise<void> {
    const { entries } = this.#source
    const missing = names.filter((name) => !entries.constants.has(name))
    if (missing.length === 0) return
    await fetchModules(this.#source, missing)
    entries.save()
  }
}
