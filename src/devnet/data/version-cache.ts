/** Cache of the newest versions of entries, bounded by bytes: keys and rows can be long. */
import { RecentItems, type RecentTable } from '#ground/base/recent.ts'
import { sizeOf } from '#language/contracts/values/size.ts'
import type { Value } from '#language/contracts/values/value.ts'
import type { Version } from '../ledger/versions.ts'

/** Estimated bytes of an entry beside its key and its value. */
const ENTRY_BYTES = 200
/** Estimated bytes of other values than rows: a guard, a pact, or a reference to a module. */
const OTHER_BYTES = 1000

interface EntryPlace {
  readonly chain: number
  readonly domain: string
  readonly key: string
}

/** The newest version of an entry, or null if it has none. */
export type VersionCache = RecentItems<EntryPlace, Version | null>

/** @param bytes estimated size of a full generation (base/recent.ts) */
export function versionCache(bytes: number): VersionCache {
  return new RecentItems({ full: bytes, weigh: bytesOf, table: () => new PlaceTable() })
}

/** Keys stay strings of their own, because joining a long key with its domain copies it on every read. */
class PlaceTable implements RecentTable<EntryPlace, Version | null> {
  /** Chain -> domain -> key -> version. */
  readonly #chains = new Map<number, Map<string, Map<string, Version | null>>>()

  get({ chain, domain, key }: EntryPlace): Version | null | undefined {
    return this.#chains.get(chain)?.get(domain)?.get(key)
  }

  set({ chain, domain, key }: EntryPlace, version: Version | null): void {
    const domains = getOrMake(this.#chains, chain, () => new Map<string, Map<string, Version | null>>())
    getOrMake(domains, domain, () => new Map<string, Version | null>()).set(key, version)
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function bytesOf({ domain, key }: EntryPlace, version: Version | null): number {
  const bytes = ENTRY_BYTES + 2 * key.length
  if (version === null) return bytes
  return bytes + (domain.startsWith('table:') ? 2 * sizeOf(version.value as Value).weight : OTHER_BYTES)
}
