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
import { functionsWithoutThrowsTag, throwsWithoutTag } from './throws.ts'

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

it('the check of comments finds functions that throw operating errors without @throws', () => {
  const text = `
    /** Reads a port. @throws NewcutError BAD_OPTION for a port out of range */
    export function readPort(text: string) { throw operatingError(rows.badPort, { text }) }

    /** Reads a host. */
    export const readHost = (text: string) => { throw operatingError(rows.badHost, { text }) }

    /** Reads a path. @throws NewcutError BAD_OPTION */
    const separator = '/'
    export function readPath(text: string) { throw new WrongPath(separator) }

    /** Throws only what it caught, or for a broken invariant. */
    export function expectRow(rows: Rows) {
      if (rows.size === 0) throw new Error('no rows')
      try { rows.read() } catch (error) { throw error }
    }

    export const startLater = () => schedule(() => { throw operatingError(rows.late) })

    function readPrivately() { throw operatingError(rows.secret) }

    export class Reader {
      /** @throws Refused if the reader is closed */
      read() { throw new Refused() }
      close() { const failure = this.failure; throw failure }
      private reopen() { throw new Refused() }
      #rewind() { throw new Refused() }
    }`
  expect(functionsWithoutThrowsTag('reader.ts', text)).toEqual(['readHost', 'readPath', 'Reader.close'])
})

it('each exported function and public method that throws an operating error has @throws in its comment', () => {
  expect(throwsWithoutTag()).toEqual([])
})

it('CONTRIBUTING has the word list as it stands in scripts/docs/words.ts', () => {
  const text = readFileSync(fileURLToPath(new URL('../CONTRIBUTING.md', import.meta.url)), 'utf8')
  expect(text).toContain(wordTable())
})
