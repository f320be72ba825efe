/**
 * Every text of a table of errors (`errorRows`), by file. `golden/error-texts.txt` lists them, so that a person can read
 * them through; `npx vitest run test/error-texts.test.ts --update` rewrites it.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { filesBelow } from '../scripts/sources.ts'
import { type ErrorRow, errorCodes } from '../src/ground/base/errors.ts'

const folder = fileURLToPath(new URL('../src/', import.meta.url))
const files = filesBelow(folder).filter(
  (name) => name.endsWith('.ts') && /= errorRows\(/.test(readFileSync(`${folder}${name}`, 'utf8')),
)

const isRow = (value: unknown): value is ErrorRow =>
  typeof value === 'object' && value !== null && 'code' in value && String(value.code) in errorCodes && 'text' in value

const tables = await Promise.all(
  files.map(async (name) => {
    const compiled = new URL(`../dist/src/${name.replace(/\.ts$/, '.js')}`, import.meta.url)
    const values: Record<string, unknown> = await import(/* @vite-ignore */ compiled.href)
    const found = Object.values(values).filter((value) => typeof value === 'object' && value !== null)
    return [name, found.flatMap((value) => Object.entries(value).filter(([, row]) => isRow(row)))] as const
  }),
)
const rows = tables.flatMap(([file, own]) => own.map(([name, row]) => ({ file, name, row: row as ErrorRow })))

it('every file with a table of errors exports its rows', () => {
  expect(tables.filter(([, own]) => own.length === 0).map(([name]) => name)).toEqual([])
})

it('no text of a table is joined with +, because the compiler would no longer check its values', () => {
  const joined = files.filter((name) => {
    const [, table] = readFileSync(`${folder}${name}`, 'utf8').split('= errorRows(')
    return /['`]\s*\+|\+\s*['`]/.test(table)
  })
  expect(joined).toEqual([])
})

it('every error of a table has a hint, or the reason why none would help', () => {
  const bare = rows.filter(({ row }) => (row.hint === undefined ? row.noHint.trim() === '' : row.hint.trim() === ''))
  expect(bare).toEqual([])
})

it('no two errors of the tables have the same code and text, if the text has words of its own', () => {
  const texts = rows
    .map(({ row }) => `${row.code} ${row.text}`)
    .filter((text) => /[a-z]{2}/.test(text.replace(/\{\w+\}/g, '')))
  expect(texts.filter((text, i) => texts.indexOf(text) !== i)).toEqual([])
})

it('the list has the text and the hint of every error of a table', async () => {
  const lines = tables.flatMap(([file, own]) => [
    `# ${file}`,
    ...own.map(([, value]) => {
      const row = value as ErrorRow
      return `${row.text} [${row.hint ?? `no hint: ${row.noHint}`}] [${row.code}]`
    }),
    '',
  ])
  await expect(lines.join('\n')).toMatchFileSnapshot('golden/error-texts.txt')
})
