/**
 * Cache of the newest versions of entries, bounded by bytes: keys and rows can be long. It has two generations, as
 * Recent has. Keys stay strings of their own, because joining a long key with its domain copies it on every read.
 */
import { sizeOf } from '../../contracts/values/size.ts'
import type { Value } from '../../contracts/values/value.ts'
import type { Version } from '../ledger/versions.ts'

/** Bytes of an entry beside its key and its value. */
const ENTRY_BYTES = 200
/** Bytes of a value that is no row: a guard, a pact, or a reference to a module. */
const OTHER_BYTES = 1000

/** Chain -> domain -> key -> newest version, or null if the entry has none. */
type Generation = Map<number, Map<string, Map<string, Version | null>>>

interface Place {
  readonly chain: number
  readonly domain: string
  readonly key: string
}

export class VersionCache {
  readonly #bytes: number
  #young: Generation = new Map()
  #old: Generation = new Map()
  #youngBytes = 0

  /** @param bytes estimated size at which a generation is full; the cache holds at most twice as much */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** @returns null if the entry has no version, undefined if that is not cached */
  get(chain: number, domain: string, key: string): Version | null | undefined {
    const young = this.#young.get(chain)?.get(domain)?.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(chain)?.get(domain)?.get(key)
    if (old !== undefined) this.set({ chain, domain, key }, old)
    return old
  }

  set({ chain, domain, key }: Place, version: Version | null): void {
    const domains = getOrMake(this.#young, chain, () => new Map<string, Map<string, Version | null>>())
    getOrMake(domains, domain, () => new Map<string, Version | null>()).set(key, version)
    this.#youngBytes += ENTRY_BYTES + 2 * key.length + bytesOf(domain, version)
    if (this.#youngBytes < this.#bytes) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function bytesOf(domain: string, version: Version | null): number {
  if (version === null) return 0
  return domain.startsWith('table:') ? 2 * sizeOf(version.value as Value).weight : OTHER_BYTES
}
