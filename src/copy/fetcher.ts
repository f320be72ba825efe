/** Fetches missing entries of a chain at its pin, and more of what the same run will probably read. */
import { type ExactJson, fieldsOf } from '../base/json.ts'
import type { Domain } from '../contracts/machine/state.ts'
import { splitName } from '../contracts/syntax/names.ts'
import { keepValue } from '../contracts/values/keep.ts'
import type { Value } from '../contracts/values/value.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import type { Asker } from './asker.ts'
import type { ForkCache } from './cache.ts'
import { fetchCounter } from './counter-fetch.ts'
import { exactRow, inexactFields, printedFields } from './exact-values.ts'
import { fetchAncestor } from './header-fetch.ts'
import { type CachedModule, fetchModules } from './module-fetch.ts'
import { exactWithin, joined, printCode, shapeWithin } from './nested-values.ts'
import { fetchPact } from './pact-fetch.ts'
import { askAll, literal, odd, type PinQuestion, unlessOdd } from './question.ts'

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

/** Rows of a table, and code of a list of keys with what is printed of the row `v`. */
interface FoundRows {
  readonly table: string
  readonly rows: readonly PrintedRow[]
  readonly printed: (print: string) => string
}

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
      return key === null ? this.#allRows(table) : this.#rows(table, [key, ...hints])
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

  /** Fetches rows of a table that are not cached: that of the first key, and some of the others. */
  async #rows(table: string, [first, ...others]: readonly string[]): Promise<void> {
    const cache = this.#cache
    const isNew = (key: string) => key.length <= MAX_HINT && key !== first && !cache.has(rowKey(table, key))
    const keys = [first, ...[...new Set(others)].filter(isNew).slice(0, MAX_HINTS)]
    const row = `[k r (if (= (typeof r) "bool") [] ${printedFields(this.#inexactFields(table))})]`
    const mapped = (body: string, some: readonly string[]) =>
      `(map (lambda (k) ${body}) [${some.map(literal).join(' ')}])`
    let rows: readonly PrintedRow[] = []
    await askAll(this.asker, [
      {
        code: mapped(`(let ((r (try false (read ${table} k)))) ${row})`, keys),
        take: (value) => {
          if (!Array.isArray(value) || value.length !== keys.length) throw odd(this.asker, value)
          rows = keys.map((key, i) => [key, ...(value[i] as PrintedRow).slice(1)])
        },
        failed: (message) => this.#noTable(table, message),
      },
    ])
    const present = rows.flatMap(([key, found]) => (found === false ? [] : [key as string]))
    const printed = (print: string) => mapped(`[k (let ((v (read ${table} k))) ${print})]`, present)
    await this.#putRows({ table, rows, printed })
  }

  /** Caches rows, with all digits of the decimals and times in them. */
  async #putRows({ table, rows, printed }: FoundRows): Promise<void> {
    const fields = this.#inexactFields(table)
    const values = rows.map((each): readonly [string, Value | false] => {
      return unlessOdd(this.asker, each, () => {
        const [key, row = null, texts = null] = each
        return [key as string, row === false ? false : exactRow(valueFromJson(row), fields, texts)]
      })
    })
    const shape = joined(values.map(([, row]) => (row === false ? null : shapeWithin(row, fields))))
    const print = shape === null ? null : printCode(shape)
    const texts = new Map<string, ExactJson>()
    const take = (value: ExactJson) => {
      for (const [key, text] of value as readonly PrintedRow[]) texts.set(key as string, text)
    }
    if (print !== null) await askAll(this.asker, [{ code: printed(print), take }])
    for (const [key, row] of values) {
      const exact = row === false || shape === null ? row : exactWithin(row, shape, texts.get(key))
      this.#cache.put(rowKey(table, key), exact === false ? false : keepValue(exact))
    }
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

  /** Fetches all rows of a table, or their number if they are too many. */
  async #allRows(table: string): Promise<void> {
    const { tableRows } = this.#options
    const folded = (row: string, each: string) =>
      `(fold-db ${table} (lambda (k ${row}) true) (lambda (k ${row}) ${each}))`
    const found = folded('r', `[k r ${printedFields(this.#inexactFields(table))}]`)
    let rows: readonly PrintedRow[] | null = null
    await askAll(this.asker, [
      {
        code: `(let ((n (length (keys ${table})))) (if (> n ${tableRows}) [n] [n ${found}]))`,
        take: (value) => {
          const [count, all = null] = Array.isArray(value) ? (value as readonly ExactJson[]) : []
          const { int } = fieldsOf(count)
          if (int === undefined || !(all === null || Array.isArray(all))) throw odd(this.asker, value)
          if (all === null) this.#cache.put(`keys:${table}`, { tooMany: String(int) })
          else rows = all as readonly PrintedRow[]
        },
        failed: (message) => this.#noTable(table, message),
      },
    ])
    if (rows === null) return
    await this.#putRows({ table, rows, printed: (print) => folded('v', `[k ${print}]`) })
    this.#cache.put(`keys:${table}`, (rows as readonly PrintedRow[]).map(([key]) => key as string).sort())
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
