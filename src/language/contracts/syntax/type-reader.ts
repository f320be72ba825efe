/** Parses the types after colons. */
import type { Cursor } from './cursor.ts'
import type { TypeForm } from './form.ts'
import { syntaxError } from './lexer.ts'

const PLAIN = ['string', 'integer', 'decimal', 'bool', 'time', 'guard', 'keyset', 'unit'] as const

/** A type and the offset after it. */
export interface TypeSpan {
  readonly type: TypeForm
  readonly to: number
}

/**
 * Reads `integer`, `[string]`, `list`, `object`, `object{schema}`, `{schema}`, `table{schema}`, `module{a, b}`.
 * @throws ContractError (SyntaxError) if there is no such type
 */
export function readType(cursor: Cursor): TypeSpan {
  const { kind, text, place, to } = cursor.peek()
  if (kind === '[') return readListType(cursor)
  if (kind === '{') {
    const { type, to: end } = readSchema(cursor, 'object')
    return { type: { ...type, isBare: true }, to: end }
  }
  cursor.expect('name')
  if (cursor.peek().kind === '{') {
    if (text === 'object' || text === 'table') return readSchema(cursor, text)
    if (text === 'module') return readInterfaces(cursor)
  }
  const plain = PLAIN.find((type) => type === text)
  if (plain !== undefined) return { type: { type: plain }, to }
  if (text === 'list') return { type: { type: 'list', item: null }, to }
  if (text === 'object') return { type: { type: 'object', schema: null }, to }
  throw syntaxError(`No such type: ${text.slice(0, 40)}`, place)
}

function readListType(cursor: Cursor): TypeSpan {
  cursor.expect('[')
  const item = cursor.readNested(() => readType(cursor)).type
  return { type: { type: 'list', item }, to: cursor.expect(']').to }
}

function readSchema(cursor: Cursor, type: 'object' | 'table') {
  cursor.expect('{')
  const schema = cursor.expect('name').text
  return { type: { type, schema }, to: cursor.expect('}').to }
}

function readInterfaces(cursor: Cursor): TypeSpan {
  cursor.expect('{')
  const interfaces = [cursor.expect('name').text]
  while (cursor.skip(',')) interfaces.push(cursor.expect('name').text)
  return { type: { type: 'module', interfaces }, to: cursor.expect('}').to }
}
