/** Literals of the contract language: strings, numbers, booleans, lists and objects, as code and as JSON. */

/** An argument as code of a call, and as JSON of a capability. */
export interface Argument {
  readonly code: string
  readonly json: unknown
}

/** A fault in the text of a field. The message says the expected form. */
export class FieldFault extends Error {}

/** A string in source form. */
export function quoted(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
  return `"${text.replace(/[\\"\n\r\t]/g, (character) => escapes[character])}"`
}

export function integerOf(text: string): Argument {
  const trimmed = text.trim()
  if (!/^-?\d+$/.test(trimmed)) throw new FieldFault('a whole number, such as 12')
  const number = Number(trimmed)
  return { code: trimmed, json: { int: Number.isSafeInteger(number) ? number : trimmed } }
}

/** A whole number gets the fraction that the language demands. */
export function decimalOf(text: string): Argument {
  const trimmed = text.trim()
  if (!/^-?\d+(\.\d+)?$/.test(trimmed)) throw new FieldFault('a number, such as 1.5')
  const code = trimmed.includes('.') ? trimmed : `${trimmed}.0`
  return { code, json: { decimal: code } }
}

export function timeOf(text: string): Argument {
  const trimmed = text.trim()
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(trimmed) || Number.isNaN(Date.parse(trimmed))) {
    throw new FieldFault('a time in UTC, such as 2027-01-31T12:00:00Z')
  }
  return { code: `(time "${trimmed}")`, json: { time: trimmed } }
}

/** A module by name. */
export function moduleOf(text: string, interfaces: readonly string[]): Argument {
  const trimmed = text.trim()
  if (!/^[^\s()[\]{}"'.,:;]+(\.[^\s()[\]{}"'.,:;]+)?$/.test(trimmed)) {
    throw new FieldFault('the name of a module, such as free.token')
  }
  return { code: trimmed, json: { refSpec: interfaces.map(nameJson), refName: nameJson(trimmed) } }
}

function nameJson(qualified: string) {
  const [first, second] = qualified.split('.')
  return second === undefined ? { namespace: null, name: first } : { namespace: first, name: second }
}

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\[\s\S])*")|(-?\d+(?:\.\d+)?)(?![^\s[\]{},:])|(true|false)(?![^\s[\]{},:])|([[\]{}:,]))/y

/** A literal. Throws FieldFault for other code, with the place. */
export function literalOf(text: string): Argument {
  const tokens = tokensOf(text.trim())
  if (tokens.length === 0) throw new FieldFault('a literal, such as "text", 1.5, [1 2] or {"name": true}')
  const reader = new LiteralReader(tokens)
  const json = reader.value()
  if (!reader.isAtEnd) throw new FieldFault(`one literal: ${reader.shown} is left`)
  return { code: text.trim(), json }
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const found = TOKEN.exec(text)
    if (found === null) throw new FieldFault(`a literal: ${text.slice(at).trim().slice(0, 20)} is none`)
    tokens.push(found[0].trim())
  }
  return tokens
}

/** Nesting above which a literal is refused, as most of it would be a mistake. */
const MAX_DEPTH = 100

class LiteralReader {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length
  }

  get shown(): string {
    return this.#tokens[this.#at] ?? 'the end'
  }

  value(depth = 0): unknown {
    if (depth > MAX_DEPTH) throw new FieldFault(`at most ${MAX_DEPTH} levels of brackets`)
    const token = this.#next()
    if (token === '[') return this.#list(depth)
    if (token === '{') return this.#object(depth)
    if (token.startsWith('"')) return stringIn(token)
    if (token === 'true' || token === 'false') return token === 'true'
    if (/^-?\d/.test(token)) return (token.includes('.') ? decimalOf : integerOf)(token).json
    throw new FieldFault(`a literal: ${token} is none`)
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = []
    while (this.shown !== ']') {
      items.push(this.value(depth + 1))
      if (this.shown === ',') this.#at++
    }
    this.#at++
    return items
  }

  #object(depth: number): Readonly<Record<string, unknown>> {
    const fields: [string, unknown][] = []
    while (this.shown !== '}') {
      const name = this.#next()
      if (!name.startsWith('"')) throw new FieldFault(`field names in quotes: ${name} is none`)
      if (this.#next() !== ':') throw new FieldFault(`a colon behind ${name}`)
      fields.push([stringIn(name), this.value(depth + 1)])
      if (this.shown === ',') this.#at++
    }
    this.#at++
    return Object.fromEntries(fields)
  }

  #next(): string {
    const token = this.#tokens[this.#at++]
    if (token === undefined) throw new FieldFault('a complete literal: a bracket is not closed')
    return token
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

const stringIn = (token: string) =>
  token.slice(1, -1).replace(/\\([\s\S])/g, (_, each: string) => ESCAPES[each] ?? each)
