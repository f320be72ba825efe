/** Fetches missing entries of a chain at its pin, and more of what the same run will probably read. */
import { splitName } from '../contracts/machine/names.ts'
import type { Domain } from '../contracts/machine/state.ts'
import { keepValue } from '../contracts/values/keep.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import type { ExactJson } from '../core/json.ts'
import { type Asker, fieldsOf } from './asker.ts'
import type { ForkCache } from './cache.ts'
import { fetchCounter } from './counter-fetch.ts'
import { exactRow, inexactFields, printedFields } from './exact-values.ts'
import { fetchAncestor } from './header-fetch.ts'
import { type CachedModule, fetchModules } from './module-fetch.ts'
import { fetchPact } from './pact-fetch.ts'
import { askAll, literal, odd, type PinQuestion } from './question.ts'

/** An entry, or with key null the keys of a domain. */
export interface MissedEntry {
  readonly domain: Domain
  readonly key: string | null
}

export interface FetchOptions {
  /** Most rows of a table that is read as a whole. */
  readonly tableRows: number
  /** Request keys of commands that continued pacts before the pin. */
  readonly pactKeys: readonly string[]
}

/** Key, row, and printed forms of some of its fields. */
type PrintedRow = readonly ExactJson[]

/** Most rows that are fetched beside the one that is missing, and the longest key of such a row. */
const MAX_HINTS = 50
const MAX_HINT = 256
/** Gas of listing the keys of a table is flat, so one request counts and lists. */
const ABSENT_TABLE = /not found|no such member|has no such|unbound|not exist/i

export class Fetcher {
  readonly asker: Asker
  readonly #cache: ForkCache
  readonly #options: FetchOptions
  /** Entry -> the request that fetches it. */
  readonly #flights = new Map<string, Promise<void>>()

  constructor(asker: Asker, cache: ForkCache, options: FetchOptions) {
    this.asker = asker
    this.#cache = cache
    this.#options = options
  }

  /**
   * Fetches an entry. A second call for the same entry waits for the first.
   * @param hints texts of the code that misses it: probably keys of other rows
   * @throws NewcutError if the node cannot tell it
   */
  async fetch(wanted: MissedEntry, hints: readonly string[] = []): Promise<void> {
    const flight = `${wanted.domain}|${wanted.key}`
    const before = this.#flights.get(flight)
    if (before !== undefined) return before
    const fetching = this.#fetch(wanted, hints).finally(() => this.#flights.delete(flight))
    this.#flights.set(flight, fetching)
    await fetching
    this.#cache.save()
  }

  /** Fetches those of these modules that are not cached, and what they depend on. */
  async fetchModules(names: readonly string[]): Promise<void> {
    const missing = names.filter((name) => !this.#cache.has(`constants:${name}`))
    if (missing.length === 0) return
    await fetchModules(this.asker, this.#cache, missing)
    this.#cache.save()
  }

  async #fetch({ domain, key }: MissedEntry, hints: readonly string[]): Promise<void> {
    const { asker } = this
    const cache = this.#cache
    if (domain.startsWith('table:')) {
      const table = domain.slice('table:'.length)
      return askAll(asker, [key === null ? this.#allRows(table) : this.#rows(table, [key, ...hints])])
    }
    switch (domain) {
      case 'modules':
        return fetchModules(asker, cache, key === null ? [] : [key])
      case 'keysets':
        return askAll(asker, [this.#described('keyset', key ?? '', (value) => keepValue(valueFromJson(value)))])
      case 'namespaces': {
        const guards = (value: ExactJson) => {
          const { 'user-guard': user, 'admin-guard': admin } = fieldsOf(value)
          return [user, admin].map((guard) => keepValue(valueFromJson(guard)))
        }
        return askAll(asker, [this.#described('namespace', key ?? '', guards)])
      }
      case 'headers':
        return fetchAncestor(asker, cache, key ?? '')
      case 'pacts':
        return fetchPact(asker, cache, key ?? '', this.#options.pactKeys)
      case 'counters':
        return fetchCounter(asker, cache)
      default:
        throw new Error(`the fork cannot fetch ${domain}`)
    }
  }

  /** Rows of a table that are not cached: that of the first key, and some of the others. */
  #rows(table: string, [first, ...others]: readonly string[]): PinQuestion {
    const cache = this.#cache
    const isNew = (key: string) => key.length <= MAX_HINT && key !== first && !cache.has(rowKey(table, key))
    const keys = [first, ...[...new Set(others)].filter(isNew).slice(0, MAX_HINTS)]
    const fields = this.#inexactFields(table)
    const row = `[k r (if (= (typeof r) "bool") [] ${printedFields(fields)})]`
    const code = `(map (lambda (k) (let ((r (try false (read ${table} k)))) ${row})) [${keys.map(literal).join(' ')}])`
    return {
      code,
      take: (value) => {
        if (!Array.isArray(value) || value.length !== keys.length) throw odd(this.asker, value)
        for (const [i, key] of keys.entries()) this.#putRow(table, [key, ...(value[i] as PrintedRow).slice(1)], fields)
      },
      failed: (message) => this.#noTable(table, message),
    }
  }

  #putRow(table: string, [key, row = null, printed = null]: PrintedRow, fields: readonly string[]): void {
    const kept = row === false ? false : keepValue(exactRow(valueFromJson(row), fields, printed))
    this.#cache.put(rowKey(table, key as string), kept)
  }

  #inexactFields(table: string): string[] {
    const module = this.#cache.get(`module:${splitName(table)?.module}`) as CachedModule | undefined
    return module === undefined ? [] : inexactFields(module.code)
  }

  #noTable(table: string, message: string): boolean {
    const isAbsent = ABSENT_TABLE.test(message)
    if (isAbsent) this.#cache.put(`table:${table}`, false)
    return isAbsent
  }

  /** All rows of a table, or their number if they are too many. */
  #allRows(table: string): PinQuestion {
    const { tableRows } = this.#options
    const fields = this.#inexactFields(table)
    const rows = `(fold-db ${table} (lambda (k r) true) (lambda (k r) [k r ${printedFields(fields)}]))`
    return {
      code: `(let ((n (length (keys ${table})))) (if (> n ${tableRows}) [n] [n ${rows}]))`,
      take: (value) => {
        const [count, found] = Array.isArray(value) ? (value as readonly ExactJson[]) : []
        if (found === undefined) this.#cache.put(`keys:${table}`, { tooMany: String(fieldsOf(count).int) })
        else {
          const all = found as readonly PrintedRow[]
          for (const each of all) this.#putRow(table, each, fields)
          this.#cache.put(`keys:${table}`, all.map(([key]) => key as string).sort())
        }
      },
      failed: (message) => this.#noTable(table, message),
    }
  }

  /** A keyset or a namespace. A missing one is a failure that no code catches. */
  #described(kind: 'keyset' | 'namespace', name: string, kept: (value: ExactJson) => unknown): PinQuestion {
    return {
      code: `(describe-${kind} ${literal(name)})`,
      take: (value) => this.#cache.put(`${kind}:${name}`, kept(value)),
      failed: (message) => {
        const isAbsent = /cannot find keyset|not found/i.test(message)
        if (isAbsent) this.#cache.put(`${kind}:${name}`, false)
        return isAbsent
      },
      isAlone: true,
    }
  }
}

/** Place of a row in the cache. */
export const rowKey = (table: string, key: string): string => `row:${table}|${key}`
