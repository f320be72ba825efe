/**
 * Splits the text of a program into tokens. Dotted names stay whole: `ns.module.name` is one token, with or without
 * white space around its dots.
 */
import { ContractError, type TextPlace } from '../errors.ts'
import { readString } from './string.ts'

export type TokenKind =
  | 'name'
  | 'string'
  /** `'name` */
  | 'symbol'
  | 'integer'
  | 'decimal'
  | '('
  | ')'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | ':'
  | ':='
  | '::'
  | 'end'

export interface Token {
  readonly kind: TokenKind
  /** Content of a string or symbol; source text of other tokens. */
  readonly text: string
  readonly place: TextPlace
  /** Offset of the first character; `to` is the offset after the last one. */
  readonly from: number
  readonly to: number
}

/** White space: a space, and the characters from a tab to a carriage return. */
const [SPACE, TAB, CARRIAGE_RETURN, SEMICOLON] = [...' \t\r;'].map((each) => each.charCodeAt(0))
const IDENTIFIER = '[A-Za-z%#+\\-_&$@<>=^?*!|/~][A-Za-z0-9%#+\\-_&$@<>=^?*!|/~]*'
const NAME = new RegExp(IDENTIFIER, 'y')
const NUMBER = /-?\d+(\.\d+)?/y
/** `-5a` is a name; `-5`, `-5.5` and `-5)` begin with a number. */
const NEGATIVE = /-\d+(?![A-Za-z0-9%#+\-_&$@<>=^?*!|/~])/y
const SYMBOL = /'([A-Za-z][A-Za-z0-9\-_]*)/y
const BRACKETS: ReadonlySet<string> = new Set('()[]{},')
/** Maximum length of a number: parsing a million digits would take seconds. */
const MAX_NUMBER = 10_000

/**
 * Tokenizes a text, and appends a token of kind `end`.
 * @param start position of the text within a larger one
 * @throws ContractError (SyntaxError)
 */
export function tokensOf(text: string, start: TextPlace): Token[] {
  const tokens: Token[] = []
  const lines = new LineCounter(text, start)
  let at = skip(text, 0)
  while (at < text.length) {
    const token = tokenAt(text, at, lines.placeOf(at))
    tokens.push(token)
    at = skip(text, token.to)
  }
  tokens.push({ kind: 'end', text: '', place: lines.placeOf(text.length), from: text.length, to: text.length })
  return tokens
}

/** Reads the token that begins at an offset. @throws ContractError (SyntaxError) */
export function tokenAt(text: string, from: number, place: TextPlace): Token {
  const first = text[from]
  if (BRACKETS.has(first)) return { kind: first as TokenKind, text: first, place, from, to: from + 1 }
  if (first === ':') {
    const mark = text[from + 1] === ':' ? '::' : text[from + 1] === '=' ? ':=' : ':'
    return { kind: mark, text: mark, place, from, to: from + mark.length }
  }
  if (first === '"') return { kind: 'string', ...readString(text, from, place), place, from }
  const symbol = first === "'" ? match(SYMBOL, text, from) : null
  if (symbol !== null) return { kind: 'symbol', text: symbol[1], place, from, to: from + symbol[0].length }
  const number = first === '-' || (first >= '0' && first <= '9') ? match(NUMBER, text, from) : null
  if (number !== null && (first !== '-' || match(NEGATIVE, text, from) !== null)) {
    if (number[0].length > MAX_NUMBER) throw syntaxError('Number of too many digits', place)
    const kind = number[1] === undefined ? 'integer' : 'decimal'
    return { kind, text: number[0], place, from, to: from + number[0].length }
  }
  const name = nameAt(text, from)
  if (name !== null) return { kind: 'name', ...name, place, from }
  throw syntaxError(`Unexpected character: ${JSON.stringify(String.fromCodePoint(text.codePointAt(from) ?? 0))}`, place)
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** @returns the dotted name that begins at an offset, without white space, or null if none begins there */
function nameAt(text: string, from: number): Pick<Token, 'text' | 'to'> | null {
  const first = match(NAME, text, from)
  if (first === null) return null
  let name = first[0]
  let to = from + name.length
  for (;;) {
    const dot = skip(text, to)
    if (text[dot] !== '.') return { text: name, to }
    const at = skip(text, dot + 1)
    const part = match(NAME, text, at)
    if (part === null) return { text: name, to }
    name = `${name}.${part[0]}`
    to = at + part[0].length
  }
}

/** @returns the offset after white space and comments */
export function skip(text: string, at: number): number {
  let end = at
  for (;;) {
    const code = text.charCodeAt(end)
    if (code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN)) end++
    else if (code === SEMICOLON) {
      const next = text.indexOf('\n', end)
      end = next < 0 ? text.length : next
    } else return end
  }
}

export function syntaxError(message: string, place: TextPlace): ContractError {
  return new ContractError('SyntaxError', message, place)
}

/** Converts offsets to lines and columns. Offsets must ascend from call to call. */
export class LineCounter {
  readonly #text: string
  #line: number
  /** Offset of the first character of the line; negative if the text begins within a line. */
  #lineStart: number
  /** Offset of the next line break, or the length of the text if there is none. */
  #next: number

  constructor(text: string, start: TextPlace) {
    this.#text = text
    this.#line = start.line
    this.#lineStart = -start.column
    this.#next = this.#breakFrom(0)
  }

  placeOf(offset: number): TextPlace {
    while (this.#next < offset) {
      this.#line++
      this.#lineStart = this.#next + 1
      this.#next = this.#breakFrom(this.#lineStart)
    }
    return { line: this.#line, column: offset - this.#lineStart }
  }

  #breakFrom(offset: number): number {
    const found = this.#text.indexOf('\n', offset)
    return found < 0 ? this.#text.length : found
  }
}

/** Builds the error for a bracket that is not closed. @param place where its closing bracket is expected */
export function notClosed(open: Token, kind: TokenKind, place: TextPlace): ContractError {
  const text = `Expected: [${spellToken(kind)}]`
  const advice = `the ${open.kind} of line ${open.place.line + 1}, column ${open.place.column + 1} is not closed`
  return new ContractError('SyntaxError', `${text} (${advice})`, place, text)
}

export function spellToken(kind: TokenKind): string {
  return /^\W/.test(kind) ? `'${kind}'` : kind
}
