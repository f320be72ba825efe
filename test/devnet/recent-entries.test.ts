import { expect, it } from 'vitest'
import { RecentEntries } from '../../src/devnet/data/recent-entries.ts'

const PLACES = ['0/table:a', '1/table:a', '0/keysets']

it('recent entries are kept by place: at least the limit, at most twice as many', () => {
  const recent = new RecentEntries<string>(12)
  const places = Array.from({ length: 900 }, (_, i) => [PLACES[i % 3], `${Math.floor(i / 3)}`] as const)
  for (const [i, [place, key]] of places.entries()) {
    recent.set(place, key, `${place} ${key}`)
    expect(recent.get(PLACES[0], '0')).toBe(`${PLACES[0]} 0`)
    for (const [near, at] of places.slice(Math.max(0, i - 4), i + 1)) expect(recent.get(near, at)).toBe(`${near} ${at}`)
  }
  expect(places.filter(([place, key]) => recent.get(place, key) !== undefined).length).toBeLessThanOrEqual(24)
})

it('an entry that changes takes no more room', () => {
  const recent = new RecentEntries<number>(3)
  recent.set('p', 'a', 0)
  for (let i = 0; i < 100; i++) recent.set('p', 'b', i)
  expect([recent.get('p', 'a'), recent.get('p', 'b'), recent.get('q', 'a')]).toEqual([0, 99, undefined])
})

it('a long key takes the room of several', () => {
  const recent = new RecentEntries<number>(10)
  const keys = Array.from({ length: 20 }, (_, i) => 'x'.repeat(256 * 5 + i))
  for (const [i, key] of keys.entries()) recent.set('p', key, i)
  expect(keys.filter((key) => recent.get('p', key) !== undefined).length).toBeLessThanOrEqual(4)
})
