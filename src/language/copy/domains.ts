/**
 * The domains of a copied state: where each caches its entries, which requests fetch them, and how it reads
 * them.
 */
import { type ExactJson, fieldsOf } from '#ground/base/json.ts'
import { evalError } from '../contracts/errors.ts'
import type { Module } from '../contracts/machine/ast.ts'
import { type Domain, MissingEntry, type Namespace, type ReadableState } from '../contracts/machine/state.ts'
import { decodeStoredValue, encodeStoredValue, type StoredValue } from '../contracts/values/keep.ts'
import type { Guard } from '../contracts/values/value.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import { fetchAncestor } from './ancestor-headers.ts'
import type { CopyEntries, Entries, EntrySource } from './entries.ts'
import { fetchModules } from './module-fetch.ts'
import { fetchPact, readPact } from './pacts.ts'
import { fetchCounter } from './payload-fetch.ts'
import { askAll, stringCode } from './question.ts'
import { fetchRows, fetchTable } from './row-fetch.ts'

/** The state that reads entries. */
interface EntryReader extends ReadableState {
  readonly entries: CopyEntries
  readonly moduleNames: ReadonlySet<string>
  module(name: string): Module | undefined
  hasTable(table: string): boolean
}

interface CopiedDomain {
  /**
   * @returns undefined if the chain has no such entry
   * @throws MissingEntry if it is not fetched yet
   * @throws ContractError if it cannot be had
   */
  get(state: EntryReader, key: string): unknown
  /** @throws like get */
  keys(state: EntryReader): string[]
  /**
   * Asks the node for an entry, and caches it.
   * @param key null for all keys of the domain
   * @param hints probably keys of other entries that the same run reads
   */
  ask(source: EntrySource, key: string | null, hints: readonly string[]): Promise<void>
}

/** A domain that fetches each entry with a request of its own. */
interface PlainDomain<J> {
  readonly entries: (entries: CopyEntries) => Entries<J | false>
  readonly ask: (source: EntrySource, key: string) => Promise<void>
  readonly read: (json: J, key: string, state: EntryReader) => unknown
}

type TableDomain = `table:${string}`

const guardIn = (json: StoredValue) => decodeStoredValue(json) as Guard

const DOMAINS: Readonly<Record<Exclude<Domain, TableDomain>, CopiedDomain>> = {
  modules: {
    get: (state, name) => state.module(name),
    keys: ({ moduleNames }) => [...moduleNames].sort(),
    ask: (source, name) => fetchModules(source, name === null ? [] : [name]),
  },
  tables: {
    get: (state, table) => (state.hasTable(table) ? true : undefined),
    keys: () => [],
    ask: () => Promise.reject(new Error('the tables of a chain are in the texts of its modules')),
  },
  keysets: plainDomain('keysets', { entries: ({ keysets }) => keysets, ask: fetchKeyset, read: guardIn }),
  namespaces: plainDomain('namespaces', {
    entries: ({ namespaces }) => namespaces,
    ask: fetchNamespace,
    read: ([user, admin]): Namespace => ({ user: guardIn(user), admin: guardIn(admin) }),
  }),
  pacts: plainDomain('pacts', { entries: ({ pacts }) => pacts, ask: fetchPact, read: readPact }),
  counters: plainDomain('counters', { entries: ({ counters }) => counters, ask: fetchCounter, read: (next) => next }),
  headers: plainDomain('headers', { entries: ({ headers }) => headers, ask: fetchAncestor, read: (height) => height }),
}

export function domainOf(domain: Domain): CopiedDomain {
  return isTable(domain) ? rowDomain(domain) : DOMAINS[domain]
}

const isTable = (domain: Domain): domain is TableDomain => domain.startsWith('table:')

function plainDomain<J>(domain: Domain, { entries, ask, read }: PlainDomain<J>): CopiedDomain {
  return {
    get: (state, key) => {
      const json = entries(state.entries).get(key)
      if (json === undefined) throw new MissingEntry(state, domain, key)
      return json === false ? undefined : read(json, key, state)
    },
    keys: () => [],
    ask: (source, key) => ask(source, key ?? ''),
  }
}

function rowDomain(domain: TableDomain): CopiedDomain {
  const table = domain.slice('table:'.length)
  return {
    get: (state, key) => {
      const row = state.entries.rows(table).get(key)
      if (row === false) return undefined
      if (row !== undefined) return decodeStoredValue(row)
      if (!state.hasTable(table) || Array.isArray(state.entries.tableKeys.get(table))) return undefined
      throw new MissingEntry(state, domain, key)
    },
    keys: (state) => {
      if (!state.hasTable(table)) return []
      const keys = state.entries.tableKeys.get(table)
      if (keys === undefined) throw new MissingEntry(state, domain, null)
      if ('tooMany' in keys) {
        throw evalError(`The forked table ${table} has ${keys.tooMany} rows, more than \`fork.tableRows\` allows`)
      }
      return [...keys]
    },
    ask: (source, key, hints) => (key === null ? fetchTable(source, table) : fetchRows(source, table, [key, ...hints])),
  }
}

function fetchKeyset(source: EntrySource, name: string): Promise<void> {
  return describe(source, `(describe-keyset ${stringCode(name)})`, {
    name,
    place: source.entries.keysets,
    cachedFormOf: cachedForm,
  })
}

function fetchNamespace(source: EntrySource, name: string): Promise<void> {
  const cachedFormOf = (value: ExactJson) => {
    const { 'user-guard': user, 'admin-guard': admin } = fieldsOf(value)
    return [user, admin].map(cachedForm)
  }
  const place = source.entries.namespaces
  return describe(source, `(describe-namespace ${stringCode(name)})`, { name, place, cachedFormOf })
}

const cachedForm = (value: ExactJson) => encodeStoredValue(valueFromJson(value))

interface DescribedEntry<J> {
  readonly name: string
  readonly place: Entries<J | false>
  /** Picks the JSON for the cache out of the description. */
  readonly cachedFormOf: (value: ExactJson) => J
}

function describe<J>(
  { caller }: EntrySource,
  code: string,
  { name, place, cachedFormOf }: DescribedEntry<J>,
): Promise<void> {
  const onFailure = (message: string) => {
    const isAbsent = /cannot find keyset|not found/i.test(message)
    if (isAbsent) place.put(name, false)
    return isAbsent
  }
  return askAll(caller, [{ code, take: (value) => place.put(name, cachedFormOf(value)), onFailure, isAlone: true }])
}
