/**
 * Names and errors in the words of CONTRIBUTING. `golden/words.txt` lists what is left of other ones, by file, and only
 * shrinks: `npx vitest run test/words.test.ts --update` rewrites it.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { unclearParts, wordTable } from '../scripts/docs/words.ts'
import { lacksVerb, namesWith, namesWithoutVerb } from './function-names.ts'
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
  const unclear = Object.entries(namesWith(unclearParts)).map(([file, names]) => `${file}: ${names.join(', ')}`)
  const lists = {
    'names with a part that says a mood or a result': unclear,
    'functions whose name is not a verb': functions,
    'errors that stand in no table': errorsOutside,
  }
  const lines = Object.entries(lists).flatMap(([title, list]) => [`# ${title}`, ...list, ''])
  await expect(lines.join('\n')).toMatchFileSnapshot('golden/words.txt')
})

it('CONTRIBUTING has the word list as it stands in scripts/docs/words.ts', () => {
  const text = readFileSync(fileURLToPath(new URL('../CONTRIBUTING.md', import.meta.url)), 'utf8')
  expect(text).toContain(wordTable())
})
