/**
 * The only reader of JSON text that others wrote. It limits the nesting, and integers are exact. `JSON.parse` rounds
 * integers beyond 2^53, such as the `featureFlags` of real blocks (PROTOCOL.md B.6). Here they become bigint, and a bigint
 * is written as a plain integer.
 */

import { FormatError } from './errors.ts'

/** Any JSON value. Integers that a double cannot hold are bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json }

/** A number with a fraction or an exponent, as written; a double would lose digits. */
export class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** JSON in which all numbers are exact. */
export type ExactJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | NumberText
  | readonly ExactJson[]
  | { readonly [key: string]: ExactJson }

/** The fields of an object in exact JSON. */
export type JsonFields = { readonly [name: string]: ExactJson }

/**
 * Maximum nesting of JSON text. Values of contracts have 1,000 levels (contracts/values/size.ts), and results wrap them.
 * Code that walks a value calls itself: at about 1,900 levels, it would exceed the call stack.
 */
export const MAX_JSON_DEPTH = 1_200

/** JSON text that nests more than MAX_JSON_DEPTH levels. */
export class JsonDepthError extends SyntaxError {
  constructor() {
    super(`the JSON nests more than ${MAX_JSON_DEPTH} levels`)
  }
}

/**
 * Detects a possible unsafe integer: 2^53 - 1 = 9007199254740991 has 16 digits. The preceding character distinguishes
 * numbers from digits within strings, such as nonces.
 */
const MAYBE_UNSAFE = /(?:^|[[,:\s])-?(?:\d{17}|9\d{15})/
const INTEGER = /^-?[1-9]\d*$/
/** A JSON number with a fraction or an exponent. */
const FRACTION = /^-?(?:0|[1-9]\d*)(?=[.eE])(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Detects a possible number of that kind. */
const MAYBE_FRACTION = /\d[.eE]/
/** A shorter token is a safe integer, or not an integer. */
const UNSAFE_CHARACTERS = 16
/** Length of the shortest numbers with a fraction or an exponent: `1.5`, `1e5`. */
const FRACTION_CHARACTERS = 3
/**
 * NUL marks a number. JSON text has only one spelling for it, so strings that already begin with NUL are easy to find.
 */
const MARK = '\\u0000'
const PLAIN_PROPERTY = { writable: true, enumerable: true, configurable: true }
/** UTF-16 code -> 1 for characters of numbers. */
const NUMBER_CHARACTERS = new Uint8Array(0x10000)
for (const character of '0123456789.eE+-') NUMBER_CHARACTERS[character.charCodeAt(0)] = 1
const [QUOTE, BACKSLASH, COLON, MINUS, ZERO, NINE] = [...'"\\:-09'].map((character) => character.charCodeAt(0))
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'[]{}'].map((character) => character.charCodeAt(0))

/**
 * Parses JSON text. Integers beyond 2^53 - 1 become bigint, other numbers number.
 * @throws SyntaxError, also for text that nests too deep
 */
export function parseJson(text: string): Json {
  expectDepth(text)
  if (!MAYBE_UNSAFE.test(text)) return JSON.parse(text)
  return unmarkNumbers(JSON.parse(markNumbers(text, UNSAFE_CHARACTERS, isUnsafe))) as Json
}

/**
 * Parses JSON text. Numbers with a fraction or an exponent become NumberText, integers beyond 2^53 - 1 bigint, others
 * number.
 * @throws SyntaxError, also for text that nests too deep
 */
export function parseExactJson(text: string): ExactJson {
  expectDepth(text)
  if (!MAYBE_UNSAFE.test(text) && !MAYBE_FRACTION.test(text)) return JSON.parse(text)
  return unmarkNumbers(JSON.parse(markNumbers(text, FRACTION_CHARACTERS, isInexact)))
}

/**
 * Parses JSON text whose numbers may be rounded to doubles.
 * @throws SyntaxError, also for text that nests too deep
 */
export function parsePlainJson(text: string): unknown {
  expectDepth(text)
  return JSON.parse(text)
}

/**
 * @returns undefined for text that is not JSON, or that nests too deep
 * @throws other errors of `parse`
 */
export function tryParse<T = Json>(text: string, parse: (text: string) => T): T | undefined {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** @returns the object in a JSON text, or null for any other text */
export function jsonObjectIn(text: string): { readonly [name: string]: unknown } | null {
  const json = tryParse(text, parsePlainJson)
  return isJsonObject(json) ? json : null
}

/** Whether a value is a JSON object, not a list or a NumberText. */
export function isJsonObject(value: unknown): value is { readonly [name: string]: unknown }
export function isJsonObject(value: ExactJson | undefined): value is JsonFields
export function isJsonObject(value: unknown): boolean {
  return isObject(value) && !Array.isArray(value) && !(value instanceof NumberText)
}

/** The fields of a JSON object; none for any other JSON. */
export function fieldsOf(json: ExactJson | undefined): JsonFields {
  return isJsonObject(json) ? (json as JsonFields) : {}
}

/** A field of a JSON object; undefined if it has none of this name, and for any other JSON. */
export function fieldOf(json: ExactJson | undefined, name: string): ExactJson | undefined {
  const fields = fieldsOf(json)
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/**
 * @returns what `read` returns, or null if it throws FormatError or SyntaxError
 * @throws other errors of `read`
 */
export function unlessMalformed<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof FormatError || error instanceof SyntaxError) return null
    throw error
  }
}

/**
 * Checks the nesting. Few texts have enough brackets to nest too deep, so the first test is a fast count.
 * @throws JsonDepthError
 */
function expectDepth(text: string): void {
  if (text.length <= MAX_JSON_DEPTH || !hasManyBrackets(text)) return
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = stringEnd(text, i)
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > MAX_JSON_DEPTH) throw new JsonDepthError()
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--
  }
}

function hasManyBrackets(text: string): boolean {
  let count = 0
  for (const bracket of '[{') {
    for (let i = text.indexOf(bracket); i >= 0; i = text.indexOf(bracket, i + 1)) {
      if (++count > MAX_JSON_DEPTH) return true
    }
  }
  return false
}

/**
 * Turns every number to keep into a string that begins with the mark; a string that already begins with one gets a
 * second mark.
 *
 * Works by character: a regular expression with a replacer takes six times as long. Invalid JSON stays invalid, because
 * only numbers and the content of strings change.
 * @param fewest minimum length of a number to keep
 */
function markNumbers(text: string, fewest: number, mustKeep: (token: string) => boolean): string {
  let out = ''
  let done = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const end = stringEnd(text, i)
      if (text.startsWith(MARK, i + 1) && !isName(text, end)) {
        out += text.slice(done, i + 1) + MARK
        done = i + 1
      }
      i = end
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = numberEnd(text, i)
      // A number as a property name is a syntax error and must stay one.
      if (end - i >= fewest && mustKeep(text.slice(i, end)) && !isName(text, end - 1)) {
        out += `${text.slice(done, i)}"${MARK}${text.slice(i, end)}"`
        done = end
      }
      i = end - 1
    }
  }
  return out + text.slice(done)
}

/** @returns the index of the quote that closes the string at `start`, or the length of the text if there is none */
function stringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) return i
    if (code === BACKSLASH) i++
  }
  return text.length
}

function isUnsafe(token: string): boolean {
  return INTEGER.test(token) && !Number.isSafeInteger(Number(token))
}

function isInexact(token: string): boolean {
  return (token.length >= UNSAFE_CHARACTERS && isUnsafe(token)) || FRACTION.test(token)
}

/** True if the token that ends there is a property name. */
function isName(text: string, end: number): boolean {
  let i = end + 1
  while (i < text.length && text.charCodeAt(i) <= 0x20) i++
  return text.charCodeAt(i) === COLON
}

/** @returns the index after the characters of a number */
function numberEnd(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && NUMBER_CHARACTERS[text.charCodeAt(i)] === 1) i++
  return i
}

/**
 * Converts marked strings into numbers, in place. Iterative, because JSON may nest deeper than the call stack.
 * `JSON.parse` with a reviver takes twice as long.
 */
function unmarkNumbers(json: unknown): ExactJson {
  if (typeof json === 'string') return unmarkValue(json)
  const waiting = isObject(json) ? [json] : []
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const key of Object.keys(value)) {
      const before = value[key]
      if (isObject(before)) waiting.push(before)
      if (typeof before !== 'string') continue
      const after = unmarkValue(before)
      // Assignment to `__proto__` would not create a property.
      if (after !== before) Object.defineProperty(value, key, { ...PLAIN_PROPERTY, value: after })
    }
  }
  return json as ExactJson
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null
}

/** Decodes a marked string: the number after the mark, or the original string without its added mark. */
function unmarkValue(text: string): ExactJson {
  if (text.charCodeAt(0) !== 0) return text
  const token = text.slice(1)
  if (token.charCodeAt(0) === 0) return token
  return INTEGER.test(token) ? BigInt(token) : new NumberText(token)
}

/** Writes JSON text without spaces; a bigint becomes a plain integer. Undefined properties are omitted. */
export function stringifyJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map((item) => stringifyJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const properties = Object.entries(value).filter(([, item]) => item !== undefined)
    return `{${properties.map(([key, item]) => `${JSON.stringify(key)}:${stringifyJson(item)}`).join(',')}}`
  }
  return JSON.stringify(value)
}

/** Writes what `parseExactJson` has read, with all digits of its numbers. */
export function exactJsonText(json: ExactJson): string {
  if (typeof json === 'bigint') return json.toString()
  if (Array.isArray(json)) return `[${(json as readonly ExactJson[]).map(exactJsonText).join(',')}]`
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  if (json instanceof NumberText) return json.text
  return `{${Object.entries(json)
    .map(([key, item]) => `${JSON.stringify(key)}:${exactJsonText(item as ExactJson)}`)
    .join(',')}}`
}
