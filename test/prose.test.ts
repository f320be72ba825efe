/**
 * Comments, documents, help and error texts are easy to read, as far as a program can see it (scripts/prose/rules.ts).
 * `npm run prose` lists the sentences that are not. test/prose/exceptions.json counts them by file and only shrinks.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { complaints, EXCEPTIONS, exceptionsText } from '../scripts/prose/exceptions.ts'
import { type Counts, judgeProject } from '../scripts/prose/findings.ts'
import { helpTexts } from '../scripts/prose/help.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const text = readFileSync(`${root}${EXCEPTIONS}`, 'utf8')
const allowed = JSON.parse(text) as Counts

it('no file has more hard sentences than its exceptions allow, nor fewer', () => {
  expect(complaints(judgeProject(root, helpTexts()), allowed).join('\n\n')).toBe('')
})

it('the exceptions have no help text and no error text', () => {
  expect(allowed.help).toEqual({})
  expect(allowed.errors).toEqual({})
})

it('the exceptions have the format that the program writes', () => {
  expect(text).toBe(exceptionsText(allowed))
})
