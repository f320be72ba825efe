/** The generated headers of the native kernels. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { headers } from '../../scripts/assembly/emit.ts'

const texts = Object.entries(headers())

it('there are headers for staggered and mixed orders, and for the rows of their table', () => {
  expect(texts.map(([name]) => name).toSorted()).toEqual(['mixed', 'rows', 'staggered'])
})

it.each(texts)('%s.h is what `npm run assembly` writes', (name, text) => {
  const file = new URL(`../../src/mining/engine/cpu/native/${name}.h`, import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(text)
})
