import { expect, it } from 'vitest'
import { RecentItems } from '../../src/ground/base/recent.ts'

it('recent entries are kept: at least the limit, at most twice as many', () => {
  const recent = new RecentItems<string, number>({ full: 10 })
  for (let i = 0; i < 1000; i++) {
    recent.set(`${i}`, i)
    expect(recent.get('0')).toBe(0)
    for (let j = Math.max(0, i - 4); j <= i; j++) expect(recent.get(`${j}`)).toBe(j)
  }
  const cached = Array.from({ length: 1000 }, (_, i) => recent.get(`${i}`)).filter((each) => each !== undefined)
  expect(cached.length).toBeLessThanOrEqual(20)
})

it('entries count by their weight', () => {
  const recent = new RecentItems<string, string>({ full: 100, weigh: (key, value) => key.length + value.length })
  recent.set('a', 'x'.repeat(49))
  recent.set('b', 'x'.repeat(49))
  expect(recent.get('a')).toHaveLength(49)
  recent.set('c', 'x'.repeat(60))
  expect(recent.has('a')).toBe(true)
  expect(recent.has('b')).toBe(false)
  expect(recent.has('c')).toBe(true)
})
