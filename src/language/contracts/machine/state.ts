/**
 * Persistent state in layers: rows, modules, keysets, namespaces and pacts. A layer holds its own writes and reads all
 * else from the layer below. Dropping a layer undoes its writes.
 */
import { StacklessError } from '#ground/base/errors.ts'
import type { Guard } from '../values/value.ts'

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

/** Domain of the rows of a table in the state. */
export function domainOfRows({ qualified }: { readonly qualified: string }): Domain {
  return `table:${qualified}`
}

/** Entry of a namespace: who may install modules in it, and who may change it. */
export interface Namespace {
  readonly user: Guard
  readonly admin: Guard
}

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

/**
 * Ends a run that its caller drops, and begins again. It is not a failure of the code, so neither `try` nor `enforce-one`
 * nor a guard catches it.
 */
export class DroppedRun extends StacklessError {}

/** Ends a run that reads an entry that is not there yet. The caller fetches the entry and runs again. */
export class MissingEntry extends DroppedRun {
  readonly domain: Domain
  /** Key of the entry, or null for the keys of the whole domain. */
  readonly key: string | null
  /** The state that misses it. */
  readonly state: ReadableState

  constructor(state: ReadableState, domain: Domain, key: string | null) {
    super(`${domain} ${key ?? '(all keys)'} is not fetched yet`)
    this.name = 'MissingEntry'
    this.state = state
    this.domain = domain
    this.key = key
  }

  /** Whether the entry is there by now: another run may have had it fetched. */
  get isFetched(): boolean {
    try {
      if (this.key === null) this.state.keys(this.domain)
      else this.state.get(this.domain, this.key)
    } catch (error) {
      return !(error instanceof MissingEntry)
    }
    return true
  }
}
