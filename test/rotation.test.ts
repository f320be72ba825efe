/** The rotations of repeated tests together do all of them. */
import { expect, it } from 'vitest'
import { isFull, rotating, rotation } from './rotation.ts'

it('has all items after as many rotations as it takes', () => {
  const items = Array.from({ length: 10 }, (_, i) => i)
  if (isFull) return void expect(rotating(items, 4)).toEqual(items)
  const first = (rotation * 4) % 10
  expect(rotating(items, 4)).toEqual([0, 1, 2, 3].map((i) => (first + i) % 10))
  expect(rotating(items, 11)).toEqual(items)
})
