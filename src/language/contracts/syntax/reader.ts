/** Reads a text into forms: brackets, names and values. `grammar-module.ts` and `grammar-expression.ts` check what they form. */
import { NOWHERE, type TextPlace } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { Cursor } from './cursor.ts'
import type { Atom, BindingForm, CallForm, Form, ListForm, ObjectForm } from './form.ts'
import { syntaxError, type Token, tokensOf } from './lexer.ts'
import { readType } from './type-reader.ts'

export { LineCounter, notClosed, skip, type Token, type TokenKind, tokenAt, tokensOf } from './lexer.ts'

/** Maximum length of a text. Parsing takes linear time and costs no gas; the largest commands are shorter. */
export const MAX_CHARACTERS = 400_000

/**
 * Reads all forms of a text.
 * @param start position of the text within a larger one
 * @throws ContractError (SyntaxError)
 */
export function read(text: string, start: TextPlace = NOWHERE): Form[] {
  if (text.length > MAX_CHARACTERS) throw syntaxError(`Code of more than ${MAX_CHARACTERS} characters`, start)
  return readTokens(tokensOf(text, start))
}

/**
 * Reads all forms of a text that is split into tokens.
 * @param tokens the last one is of kind `end`
 * @throws ContractError (SyntaxError)
 */
export function readTokens(tokens: readonly Token[]): Form[] {
  const cursor = new Cursor(tokens)
  const forms: Form[] = []
  while (cursor.peek().kind !== 'end') forms.push(readForm(cursor))
  return forms
}

function readForm(cursor: Cursor): Form {
  const token = cursor.peek()
  switch (token.kind) {
    case '(':
      return readCall(cursor)
    case '[':
      return readList(cursor)
    case '{':
      return readBraces(cursor)
    case 'name':
      return readAtom(cursor)
    case 'string':
    case 'symbol':
      cursor.take()
      return { form: 'string', value: token.text, isSymbol: token.kind === 'symbol', ...spanOf(token, token.to) }
    case 'integer':
      cursor.take()
      return { form: 'number', value: BigInt(token.text), ...spanOf(token, token.to) }
    case 'decimal': {
      cursor.take()
      const value = Decimal.parse(token.text)
      if (value === null) throw syntaxError('Decimal of more than 255 places', token.place)
      return { form: 'number', value, ...spanOf(token, token.to) }
    }
    default:
      throw cursor.unexpectedError()
  }
}

function spanOf(first: Token, to: number) {
  return { place: first.place, from: first.from, to }
}

/** `a.b.c`, `ref::member`, `name:type` */
function readAtom(cursor: Cursor): Atom {
  const name = cursor.expect('name')
  let { to } = name
  let member: string | null = null
  if (cursor.skip('::')) {
    const token = cursor.expect('name')
    member = token.text
    to = token.to
  }
  if (!cursor.skip(':')) return { form: 'atom', name: name.text, member, type: null, ...spanOf(name, to) }
  const typed = readType(cursor)
  return { form: 'atom', name: name.text, member, type: typed.type, ...spanOf(name, typed.to) }
}

function readCall(cursor: Cursor): CallForm {
  const open = cursor.take()
  const items = cursor.readNested(() => {
    const read: Form[] = []
    while (cursor.peek().kind !== ')' && cursor.peek().kind !== 'end') {
      read.push(isModel(read.at(-1)) && cursor.peek().kind === '[' ? readModel(cursor) : readForm(cursor))
    }
    return read
  })
  return { form: 'call', items, ...spanOf(open, cursor.close(open, ')').to) }
}

function isModel(form: Form | undefined): boolean {
  return form?.form === 'atom' && form.name === '@model' && form.type === null && form.member === null
}

/**
 * Skips the properties after `@model`, which are in a language of their own: only their parentheses and brackets must
 * match.
 * @returns a list without items
 */
function readModel(cursor: Cursor): ListForm {
  const open = cursor.take()
  cursor.readNested(() => skipProperties(cursor))
  return { form: 'list', items: [], hasCommas: false, ...spanOf(open, cursor.close(open, ']').to) }
}

function skipProperties(cursor: Cursor): void {
  for (;;) {
    const { kind } = cursor.peek()
    if (kind === ')' || kind === ']' || kind === 'end') return
    if (kind === ':=') throw cursor.unexpectedError()
    cursor.take()
    if (kind !== '(' && kind !== '[') continue
    cursor.readNested(() => skipProperties(cursor))
    cursor.expect(kind === '(' ? ')' : ']')
  }
}

/** Reads a list. Commas are between all of its items, or between none. */
function readList(cursor: Cursor): ListForm {
  const open = cursor.take()
  let hasCommas = false
  const items = cursor.readNested(() => {
    const read: Form[] = []
    while (cursor.peek().kind !== ']' && cursor.peek().kind !== 'end') {
      if (read.length === 1) hasCommas = cursor.skip(',')
      else if (hasCommas) cursor.expect(',')
      read.push(readForm(cursor))
    }
    return read
  })
  return { form: 'list', items, hasCommas, ...spanOf(open, cursor.close(open, ']').to) }
}

/** Reads an object or a binding; `:` or `:=` after the first name decides. */
function readBraces(cursor: Cursor): ObjectForm | BindingForm {
  const open = cursor.take()
  const fields: (readonly [string, Form])[] = []
  const variables: (readonly [string, Atom])[] = []
  cursor.readNested(() => {
    while (cursor.peek().kind !== '}' && cursor.peek().kind !== 'end') {
      if (fields.length + variables.length > 0) cursor.expect(',')
      const { kind, text } = cursor.peek()
      if (kind !== 'string' && kind !== 'symbol') throw cursor.unexpectedError()
      cursor.take()
      if (variables.length === 0 && cursor.skip(':')) fields.push([text, readForm(cursor)])
      else if (fields.length === 0 && cursor.skip(':=')) variables.push([text, readVariable(cursor)])
      else throw cursor.unexpectedError()
    }
  })
  const span = spanOf(open, cursor.close(open, '}').to)
  return variables.length > 0 ? { form: 'binding', fields: variables, ...span } : { form: 'object', fields, ...span }
}

function readVariable(cursor: Cursor): Atom {
  const { place } = cursor.peek()
  const atom = readAtom(cursor)
  if (atom.member !== null || atom.name.includes('.')) throw syntaxError(`No name of a variable: ${atom.name}`, place)
  return atom
}
