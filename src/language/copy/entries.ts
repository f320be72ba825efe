/**
 * The entries that the cache of a chain may hold: their places, and the types of their JSON. Places are part of the format
 * of its file, so a new type needs a new place.
 */
import type { JsonFields } from '#ground/base/json.ts'
import type { TextPlace } from '../contracts/errors.ts'
import type { StoredValue } from '../contracts/values/keep.ts'
import type { CopyCache } from './cache.ts'
import type { PinnedCaller } from './pinned-caller.ts'

/** An entry that the chain does not have. */
type Absent = false

interface CachedModule {
  readonly code: string
  readonly hash: string
  readonly txHash: string
}

/** Where a module stood in the text that deployed it, and the imports before it as text. */
export interface CachedOrigin extends TextPlace {
  readonly imports: string
}

/** A pact: its continuation as JSON text, or the step whose result was in none of the commands with these keys. */
export type CachedPact = { readonly continuation: string } | { readonly step: number; readonly keys: readonly string[] }

/** The only entry of its kind. */
class SingleEntry<J> {
  readonly #cache: CopyCache
  readonly #place: string

  constructor(cache: CopyCache, place: string) {
    this.#cache = cache
    this.#place = place
  }

  /** @returns undefined if it is not cached */
  get(): J | undefined {
    return this.#cache.get(this.#place) as J | undefined
  }

  /** @throws RangeError if it is not cached */
  expect(): J {
    return requireCached(this.get(), this.#place)
  }

  put(json: J): void {
    this.#cache.put(this.#place, json)
  }
}

/** Entries of one kind. */
export class Entries<J> {
  readonly #cache: CopyCache
  readonly #prefix: string

  /** @param prefix start of their places; their keys follow */
  constructor(cache: CopyCache, prefix: string) {
    this.#cache = cache
    this.#prefix = prefix
  }

  has(key: string): boolean {
    return this.#cache.has(this.#prefix + key)
  }

  /** @returns undefined if it is not cached */
  get(key: string): J | undefined {
    return this.#cache.get(this.#prefix + key) as J | undefined
  }

  /** @throws RangeError if it is not cached */
  expect(key: string): J {
    return requireCached(this.get(key), this.#prefix + key)
  }

  put(key: string, json: J): void {
    this.#cache.put(this.#prefix + key, json)
  }

  forget(key: string): void {
    this.#cache.forget(this.#prefix + key)
  }

  /** All entries of the kind, in the order in which they were added. */
  list(): (readonly [key: string, json: J])[] {
    const prefix = this.#prefix
    return Array.from(this.#cache.withPrefix(prefix), ([place, json]) => [place.slice(prefix.length), json as J])
  }
}

function requireCached<J>(json: J | undefined, place: string): J {
  if (json === undefined) throw new RangeError(`${place} is not cached`)
  return json
}

export type CopyEntries = ReturnType<typeof entriesIn>

/** The table of entries. */
export function entriesIn(cache: CopyCache) {
  const single = <J>(place: string) => new SingleEntry<J>(cache, place)
  const many = <J>(prefix: string) => new Entries<J>(cache, prefix)
  return {
    /** The pinned header, base64url. */
    header: single<string>('header'),
    /** Payload of the pinned block, with its outputs. */
    payload: single<JsonFields | Absent>('payload'),
    /** Full names of all modules of the chain. */
    moduleNames: single<readonly string[]>('modules'),
    modules: many<CachedModule>('module:'),
    /** Module -> the names and values of its constants. They are put last: a module that has them is whole. */
    constants: many<readonly (readonly [name: string, value: StoredValue])[]>('constants:'),
    /** Module -> its origin, if a command deployed it. */
    origins: many<CachedOrigin>('origin:'),
    /** Tables that modules declare, but that no transaction has created. */
    absentTables: many<Absent>('table:'),
    /** Table -> keys of all its rows, or their number if they are too many. */
    tableKeys: many<readonly string[] | { readonly tooMany: string }>('keys:'),
    /** Key -> row of a table. */
    rows: (table: string) => many<StoredValue | Absent>(`row:${table}|`),
    keysets: many<StoredValue | Absent>('keyset:'),
    /** Namespace -> its user guard and its admin guard. */
    namespaces: many<readonly StoredValue[] | Absent>('namespace:'),
    /** Pact -> its state; null if it is finished. */
    pacts: many<CachedPact | null | Absent>('pact:'),
    /** Name -> next value of a counter of the ledger. */
    counters: many<number | Absent>('counter:'),
    /** Hash -> height of a header at or below the pin, on the branch of the pinned block. */
    headers: many<number | Absent>('header:'),
    /** Height -> header of the branch below the pinned block, base64url. */
    branch: many<string>('ancestor:'),
    /** Hash -> any header at or below the height of the pin, base64url. */
    headerBytes: many<string>('bytes:'),
    /** Request key -> result of a command at or below the pin, as JSON text. */
    results: many<string | Absent>('result:'),
    /**
     * Writes new entries to the file. Call it before anything depends on them.
     * @throws NewcutError DATA_UNUSABLE
     */
    save: () => cache.save(),
  }
}

/** Limits of questions. */
export interface FetchOptions {
  /** Maximum number of rows of a table that is read as a whole. */
  readonly tableRows: number
  /** Request keys of commands that continued pacts before the pin. */
  readonly pactKeys: readonly string[]
}

/** Whom to ask for entries, and where they go. */
export interface EntrySource {
  readonly caller: PinnedCaller
  readonly entries: CopyEntries
  readonly options: FetchOptions
}
