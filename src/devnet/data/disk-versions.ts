/**
 * Versions of contract-state entries (ledger/versions.ts) on disk. The newest value of an entry has a key of its own;
 * each older value is under the number of its block. Values are read on demand, and the most recently used are cached.
 *
 *     state/CHAIN/DOMAIN|KEY             JSON [block number, value, block number of the value before or -1]
 *     older/NUMBER/CHAIN/DOMAIN|KEY      the same, for the value that block NUMBER wrote
 *     keys/CHAIN/DOMAIN|N                JSON: the keys that were first written as number 64 N to 64 N + 63
 *     module/N                           JSON: a version of a module (ledger/entry-codec.ts)
 *     modules                            JSON: number of them
 *
 * `|` is a NUL, which no name of a domain contains.
 */
import type { Module } from '#language/contracts/machine/ast.ts'
import type { ReadableState, LayerEntry as StateEntry } from '#language/contracts/machine/state.ts'
import {
  decodeEntry,
  decodeModule,
  type EncodedModule,
  encodeEntry,
  encodeModule,
  type ModuleId,
  type ModuleNumbers,
} from '../ledger/entry-codec.ts'
import type { Version, Versions } from '../ledger/versions.ts'
import { versionCache } from './version-cache.ts'

/** Reads records, and queues them for writing. */
export interface Records {
  /** @returns JSON, or undefined if there is no such record */
  read(key: string): unknown
  write(key: string, json: unknown): void
}

type VersionRow = readonly [record: number, value: unknown, before: number]

const NONE = -1
/** Keys in one `keys` record. */
const KEYS_PER_RECORD = 64
/** Size of each generation of the cache of newest values. */
const CACHED_BYTES = 32 * 1024 * 1024
const MODULES_KEY = 'modules'

class DiskVersion implements Version {
  readonly record: number
  readonly value: unknown
  readonly #before: number
  readonly #find: (record: number) => Version | null

  constructor(record: number, value: unknown, before: number, find: (record: number) => Version | null) {
    this.record = record
    this.value = value
    this.#before = before
    this.#find = find
  }

  get older(): Version | null {
    return this.#before === NONE ? null : this.#find(this.#before)
  }
}

export class DiskVersions implements Versions {
  readonly #records: Records
  readonly #cache = versionCache(CACHED_BYTES)
  readonly #modules: DiskModules
  /** Chain and domain -> number of its keys. */
  readonly #counts = new Map<string, number>()

  /** @param genesis finds the state after the first block of the network */
  constructor(records: Records, genesis: () => ReadableState) {
    this.#records = records
    this.#modules = new DiskModules(records, genesis)
  }

  newest(chain: number, domain: string, key: string): Version | null {
    const cached = this.#cache.get({ chain, domain, key })
    if (cached !== undefined) return cached
    const name = `${chain}/${domain}\0${key}`
    const version = this.#versionAt(`state/${name}`, name, domain)
    this.#cache.set({ chain, domain, key }, version)
    return version
  }

  /** @returns the version that a block wrote, or null if it wrote none */
  writtenBy(record: number, chain: number, domain: string, key: string): Version | null {
    const newest = this.newest(chain, domain, key)
    if (newest === null || newest.record === record) return newest
    const name = `${chain}/${domain}\0${key}`
    return this.#versionAt(`older/${record}/${name}`, name, domain)
  }

  *keys(chain: number, domain: string): Iterable<string> {
    const count = this.#count(`${chain}/${domain}`)
    for (let from = 0; from < count; from += KEYS_PER_RECORD) yield* this.#keysAt(`${chain}/${domain}`, from)
  }

  add(chain: number, record: number, entries: Iterable<StateEntry>): void {
    for (const { domain, key, value } of entries) {
      const name = `${chain}/${domain}\0${key}`
      const before = this.newest(chain, domain, key)
      if (before === null) this.#addKey(`${chain}/${domain}`, key)
      else this.#records.write(`older/${before.record}/${name}`, this.#records.read(`state/${name}`))
      const kept: VersionRow = [record, encodeEntry(domain, value, this.#modules), before?.record ?? NONE]
      this.#records.write(`state/${name}`, kept)
      this.#cache.set({ chain, domain, key }, new DiskVersion(record, value, kept[2], this.#finder(name, domain)))
    }
  }

  #versionAt(place: string, name: string, domain: string): Version | null {
    const json = this.#records.read(place) as VersionRow | undefined
    if (json === undefined) return null
    const [record, value, before] = json
    return new DiskVersion(record, decodeEntry(domain, value, this.#modules), before, this.#finder(name, domain))
  }

  #finder(name: string, domain: string): (record: number) => Version | null {
    return (record) => this.#versionAt(`older/${record}/${name}`, name, domain)
  }

  #count(place: string): number {
    const known = this.#counts.get(place)
    if (known !== undefined) return known
    const last = this.#records.read(`keys/${place}\0`) as number | undefined
    this.#counts.set(place, last ?? 0)
    return last ?? 0
  }

  #addKey(place: string, key: string): void {
    const count = this.#count(place)
    const keys = count % KEYS_PER_RECORD === 0 ? [] : this.#keysAt(place, count - 1)
    this.#records.write(this.#keyOf(place, count), [...keys, key])
    this.#records.write(`keys/${place}\0`, count + 1)
    this.#counts.set(place, count + 1)
  }

  #keysAt(place: string, number: number): readonly string[] {
    return this.#records.read(this.#keyOf(place, number)) as readonly string[]
  }

  #keyOf(place: string, number: number): string {
    return `keys/${place}\0${Math.floor(number / KEYS_PER_RECORD)}`
  }
}

class DiskModules implements ModuleNumbers {
  readonly #records: Records
  readonly #genesis: () => ReadableState
  readonly #ids = new WeakMap<Module, ModuleId>()
  readonly #modules = new Map<ModuleId, Module>()

  /** @param genesis finds the state after the first block */
  constructor(records: Records, genesis: () => ReadableState) {
    this.#records = records
    this.#genesis = genesis
  }

  idOf(module: Module): ModuleId {
    const known = this.#ids.get(module)
    if (known !== undefined) return known
    if (module === this.#genesis().get<Module>('modules', module.name)) return module.name
    const kept = encodeModule(module, this)
    const id = ((this.#records.read(MODULES_KEY) as number | undefined) ?? 0) + 1
    this.#records.write(MODULES_KEY, id)
    this.#records.write(`module/${id}`, kept)
    this.#ids.set(module, id)
    this.#modules.set(id, module)
    return id
  }

  moduleOf(id: ModuleId): Module {
    if (typeof id === 'string') return this.#ofGenesis(id)
    const known = this.#modules.get(id)
    if (known !== undefined) return known
    const module = decodeModule(this.#records.read(`module/${id}`) as EncodedModule, this)
    this.#ids.set(module, id)
    this.#modules.set(id, module)
    return module
  }

  #ofGenesis(name: string): Module {
    const module = this.#genesis().get<Module>('modules', name)
    if (module === undefined) throw new RangeError(`the first block has no module ${name}`)
    return module
  }
}
