/**
 * Names and errors in the words of CONTRIBUTING. `golden/words.txt` lists what is left of other ones, by file, and only
 * shrinks: `npx vitest run test/words.test.ts --update` rewrites it.
 */
import { expect, it } from 'vitest'
import { lacksVerb, namesWithoutVerb } from './function-names.ts'
import { code } from './import-graph.ts'

const errorsOutside = [...code].flatMap(([name, text]) => {
  const count = text.match(/\bnew NewcutError\(/g)?.length ?? 0
  return count === 0 || name === 'ground/base/errors.ts' ? [] : [`${name}: ${count}`]
})

it('the check takes told, shown and of for names without a verb, and show and now for verbs', () => {
  const names = ['told', 'shown', 'of', 'refused', 'behind', 'show', 'now', 'at', 'feed', 'keepRows', 'rowOf', 'read']
  expect(names.filter(lacksVerb)).toEqual(['told', 'shown', 'of', 'refused', 'behind'])
})

it('the list has every function whose name is not a verb, and every error that stands in no table', async () => {
  const functions = Object.entries(namesWithoutVerb()).map(([file, names]) => `${file}: ${names.join(', ')}`)
  const lists = { 'functions whose name is not a verb': functions, 'errors that stand in no table': errorsOutside }
  const lines = Object.entries(lists).flatMap(([title, list]) => [`# ${title}`, ...list, ''])
  await expect(lines.join('\n')).toMatchFileSnapshot('golden/words.txt')
})
