import { expect, it } from 'vitest'
import { type VersionCache, versionCache } from '../../src/devnet/data/version-cache.ts'
import type { Version } from '../../src/devnet/ledger/versions.ts'

const version = (record: number, value: unknown): Version => ({ record, value, older: null })

/** Number of the first `count` keys that are cached. */
function cachedOf(cache: VersionCache, count: number, keyOf: (i: number) => string): number {
  return Array.from({ length: count }, (_, i) => cache.get({ chain: 0, domain: 'table:m.t', key: keyOf(i) })).filter(
    (each) => each !== undefined,
  ).length
}

it('the version cache stores the latest version of each entry, by chain and domain, and that an entry has none', () => {
  const cache = versionCache(1_000_000)
  cache.set({ chain: 0, domain: 'table:m.t', key: 'k' }, version(1, 'a'))
  cache.set({ chain: 0, domain: 'table:m.t', key: 'k' }, version(2, 'b'))
  cache.set({ chain: 1, domain: 'table:m.t', key: 'k' }, version(3, 'c'))
  cache.set({ chain: 0, domain: 'pacts', key: 'k' }, null)
  expect(cache.get({ chain: 0, domain: 'table:m.t', key: 'k' })?.value).toBe('b')
  expect(cache.get({ chain: 1, domain: 'table:m.t', key: 'k' })?.value).toBe('c')
  expect(cache.get({ chain: 0, domain: 'pacts', key: 'k' })).toBe(null)
  expect(cache.get({ chain: 1, domain: 'pacts', key: 'k' })).toBe(undefined)
})

it.each<readonly [string, (i: number) => string, (i: number) => Version | null]>([
  ['long keys without a version', (i) => `${i}`.padStart(50_000, '.'), () => null],
  ['long rows', (i) => `${i}`, (i) => version(i, 'x'.repeat(50_000))],
])('the version cache counts the bytes of %s', (_, keyOf, versionOf) => {
  const cache = versionCache(1_000_000)
  for (let i = 0; i < 200; i++) {
    cache.set({ chain: 0, domain: 'table:m.t', key: keyOf(i) }, versionOf(i))
    expect(cache.get({ chain: 0, domain: 'table:m.t', key: keyOf(i) })).not.toBe(undefined)
  }
  const kept = cachedOf(cache, 200, keyOf)
  expect(kept).toBeGreaterThan(1)
  expect(kept).toBeLessThanOrEqual(20)
})

it('the version cache keeps an entry that is used again', () => {
  const cache = versionCache(100_000)
  cache.set({ chain: 0, domain: 'table:m.t', key: 'used' }, version(0, 'used'))
  for (let i = 0; i < 5000; i++) {
    cache.set({ chain: 0, domain: 'table:m.t', key: `${i}` }, null)
    expect(cache.get({ chain: 0, domain: 'table:m.t', key: 'used' })?.value).toBe('used')
  }
})
