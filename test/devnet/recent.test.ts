import { expect, it } from 'vitest'
import { Recent } from '../../src/devnet/store/recent.ts'

it('recent entries are kept: at least the limit, at most twice as many', () => {
  const recent = new Recent<number>(10)
  for (let i = 0; i < 1000; i++) {
    recent.set(`${i}`, i)
    expect(recent.get('0')).toBe(0)
    for (let j = Math.max(0, i - 4); j <= i; j++) expect(recent.get(`${j}`)).toBe(j)
  }
  const kept = Array.from({ length: 1000 }, (_, i) => recent.get(`${i}`)).filter((each) => each !== undefined)
  expect(kept.length).toBeLessThanOrEqual(20)
})
