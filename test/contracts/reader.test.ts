import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ContractError } from '../../src/language/contracts/errors.ts'
import type { Atom, Form } from '../../src/language/contracts/syntax/form.ts'
import { read } from '../../src/language/contracts/syntax/reader.ts'
import { itWith } from '../needs.ts'

const one = (text: string): Form => {
  const forms = read(text)
  expect(forms).toHaveLength(1)
  return forms[0]
}
const failure = (text: string): ContractError => {
  try {
    read(text)
  } catch (error) {
    if (error instanceof ContractError) return error
    throw error
  }
  throw new Error(`${text} was read`)
}

it('the reader reads atoms with members and types', () => {
  expect(one('ns.mod.f')).toMatchObject({ form: 'atom', name: 'ns.mod.f', member: null, type: null })
  expect(one('ref::f')).toMatchObject({ name: 'ref', member: 'f' })
  expect(one('-')).toMatchObject({ form: 'atom', name: '-' })
  expect(one('<=')).toMatchObject({ name: '<=' })
  expect(one('-5a')).toMatchObject({ form: 'atom', name: '-5a' })
  const types: [string, Atom['type']][] = [
    ['integer', { type: 'integer' }],
    ['[integer]', { type: 'list', item: { type: 'integer' } }],
    ['[[object{s}]]', { type: 'list', item: { type: 'list', item: { type: 'object', schema: 's' } } }],
    ['list', { type: 'list', item: null }],
    ['object', { type: 'object', schema: null }],
    ['{ns.m.s}', { type: 'object', schema: 'ns.m.s', isBare: true }],
    ['table{s}', { type: 'table', schema: 's' }],
    ['module{a, ns.b}', { type: 'module', interfaces: ['a', 'ns.b'] }],
  ]
  for (const [text, type] of types) expect(one(`x:${text}`), text).toMatchObject({ name: 'x', type })
  expect(one('x : keyset')).toMatchObject({ type: { type: 'keyset' } })
})

it('the reader reads numbers and strings', () => {
  expect(one('-5')).toMatchObject({ form: 'number', value: -5n })
  expect(one('1.50')).toMatchObject({ form: 'number', value: { mantissa: 150n, places: 2 } })
  expect(read('(- 5) 5-3').map(({ form }) => form)).toEqual(['call', 'number', 'number'])
  expect(one('"a\\n\\t\\\\\\"\\\'b"')).toMatchObject({ form: 'string', value: 'a\n\t\\"\'b', isSymbol: false })
  expect(one('"a \\\n   \\b"')).toMatchObject({ value: 'a b' })
  expect(one("'my-name")).toMatchObject({ form: 'string', value: 'my-name', isSymbol: true })
})

it('the reader reads lists, objects and nested forms', () => {
  expect(one('(f [1, 2, 3] {"a": 1, \'b: 2} {})')).toMatchObject({
    form: 'call',
    items: [
      { form: 'atom' },
      { form: 'list', items: [{ value: 1n }, { value: 2n }, { value: 3n }] },
      {
        form: 'object',
        fields: [
          ['a', { value: 1n }],
          ['b', { value: 2n }],
        ],
      },
      { form: 'object', fields: [] },
    ],
  })
  expect(one('()')).toMatchObject({ form: 'call', items: [] })
  expect(one('{"a" := x, \'b := y:string}')).toMatchObject({
    form: 'binding',
    fields: [
      ['a', { name: 'x', type: null }],
      ['b', { name: 'y', type: { type: 'string' } }],
    ],
  })
})

it('the reader reports places and offsets', () => {
  const text = '; first\n  (f ; second\n   x:integer "a\\\n \\b" y)\n'
  const call = one(text)
  expect(call).toMatchObject({ place: { line: 1, column: 2 } })
  expect(text.slice(call.from, call.to)).toBe(text.trim().slice('; first\n  '.length))
  const items = call.form === 'call' ? call.items : []
  expect(items.map(({ from, to }) => text.slice(from, to))).toEqual(['f', 'x:integer', '"a\\\n \\b"', 'y'])
  expect(items[3].place).toEqual({ line: 3, column: 5 })
})

it('the reader refuses invalid programs with the place', () => {
  const wrong: [string, string][] = [
    ['(f', "Expected: [')']"],
    ['[1', "Expected: [']']"],
    ['{"a": 1', "Expected: ['}']"],
    [')', 'Unexpected input: )'],
    ['(f]', 'Unexpected input: ]'],
    ['{"a" 1}', 'Unexpected input: 1'],
    ['{a: 1}', 'Unexpected input: a'],
    ['{"a": 1, "b" := c}', 'Unexpected input: :='],
    ['[1,]', 'Unexpected input: ]'],
    ['[,1]', 'Unexpected input: ,'],
    ['[1, 2 3]', "Expected: [',']"],
    ['[1 2, 3]', 'Unexpected input: ,'],
    ['{"a": 1 "b": 2}', "Expected: [',']"],
    ['x:what', 'No such type: what'],
    ['x:', 'Expected: [name]'],
    ['"abc', 'did not close string literal'],
    ['"a\nb"', 'newline in string literal'],
    ['"\\q"', 'Invalid escape'],
    ['"a\\ b"', 'Invalid multiline string'],
    ['"a\\', 'Invalid escape'],
    ['"a\\ ', 'did not close'],
    ["'", 'Unexpected character'],
    ['é', 'Unexpected character: "é"'],
    ['{"a" := b.c}', 'No name of a variable'],
    ['.', 'Unexpected character'],
    [`1.${'1'.repeat(256)}`, '255 places'],
  ]
  for (const [text, message] of wrong) {
    const error = failure(text)
    expect(error.kind).toBe('SyntaxError')
    expect(error.message, text).toContain(message)
    expect(error.place).not.toBeNull()
  }
  expect(failure('(f\n  x').place).toEqual({ line: 1, column: 3 })
  const unclosed = failure('(f\n  [x (g)')
  expect(unclosed.message).toBe("Expected: [']'] (the [ of line 2, column 3 is not closed)")
  expect(unclosed.wireMessage).toBe("Expected: [']']")
})

it('hostile texts end in a SyntaxError', () => {
  const many = 200_000
  const texts = [
    '('.repeat(many),
    '['.repeat(many),
    '{"a":'.repeat(many),
    `x:${'['.repeat(many)}`,
    `"${'a'.repeat(many)}`,
    `"${'\\n'.repeat(many)}`,
    '9'.repeat(many),
    `1.${'9'.repeat(many)}`,
    `-${'9'.repeat(many)}.`,
    ')'.repeat(many),
    `"\\${' '.repeat(many)}`,
    `(${'\n;'.repeat(many)}`,
    `${'a.'.repeat(many)}.`,
    `(${'1 '.repeat(many)}`,
    `${'-1 '.repeat(many)})`,
    `{${'"a":1,'.repeat(many)}`,
    `'${'a'.repeat(many)}'`,
    '::'.repeat(many),
  ]
  for (const text of texts) expect(failure(text).kind, text.slice(0, 10)).toBe('SyntaxError')
})

it('the reader reads 250 levels and refuses 251', () => {
  expect(read(`${'('.repeat(250)}${')'.repeat(250)}`)).toHaveLength(1)
  expect(failure(`${'('.repeat(251)}${')'.repeat(251)}`).message).toContain('250')
})

it('the reader reads or refuses any text', () => {
  const pieces = fc.constantFrom(...'()[]{}:,."\';\\ \n-1a'.split(''), ':=', '::', '"a"', 'x:', 'module{', '1.5')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(pieces).map((all) => all.join('')),
      ),
      (text) => {
        try {
          for (const form of read(text)) expect(form.from).toBeLessThan(form.to)
        } catch (error) {
          expect(error).toBeInstanceOf(ContractError)
        }
      },
    ),
    { numRuns: 2000 },
  )
})

const suites = process.env.NEWCUT_CONTRACT_SUITES
itWith(
  suites === undefined ? 'needs a folder with suites of the language: NEWCUT_CONTRACT_SUITES=DIR npm test' : null,
  'the reader reads all suites of the language',
  () => {
    const folder = suites as string
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(repl|pact)$/.test(name),
    )
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      expect(() => read(readFileSync(join(folder, name), 'utf8')), name).not.toThrow()
    }
  },
)
