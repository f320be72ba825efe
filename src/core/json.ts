/**
 * JSON whose integers are exact. JSON.parse rounds integers beyond 2^53 (PROTOCOL.md B.6: `featureFlags` of real blocks
 * is such a number); here they arrive as bigint, and a bigint is written as a plain integer.
 */

export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * What may be an unsafe integer: 2^53 - 1 = 9007199254740991 has 16 digits. What stands in front of a number tells it
 * from the digits of a string, such as a nonce.
 */
const MAYBE_UNSAFE = /(?:^|[[,:\s])-?(?:\d{17}|9\d{15})/
/** A string (to the end of the text if it is not closed: linear time) or a number; a colon marks a property name. */
const TOKEN = /(?:"(?:[^"\\]+|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(\s*:)?/g
const INTEGER = /^-?[1-9]\d*$/
/** NUL, the mark of an integer. JSON text has one spelling for it, so it shows which strings begin with it already. */
const MARK = '\\u0000'
const PLAIN_PROPERTY = { writable: true, enumerable: true, configurable: true }

/** Parses JSON text. Integers beyond 2^53 - 1 become bigint, all other numbers number. Throws SyntaxError. */
export function parseJson(text: string): Json {
  if (!MAYBE_UNSAFE.test(text)) return JSON.parse(text)
  const marked = text.replace(TOKEN, (token, colon: string | undefined) => {
    if (colon !== undefined) return token
    if (token.startsWith(`"${MARK}`)) return `"${MARK}${token.slice(1)}`
    return INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token
  })
  return unmarked(JSON.parse(marked))
}

/** In place. A walk of our own: with a reviver, reading such a text took twice as long. */
function unmarked(value: unknown): Json {
  if (typeof value === 'string') {
    if (!value.startsWith('\0')) return value
    return value.startsWith('\0\0') ? value.slice(1) : BigInt(value.slice(1))
  }
  if (typeof value !== 'object' || value === null) return value as Json
  for (const key of Object.keys(value)) {
    const before = (value as Record<string, unknown>)[key]
    const after = unmarked(before)
    // An assignment to `__proto__` would set no property.
    if (after !== before) Object.defineProperty(value, key, { ...PLAIN_PROPERTY, value: after })
  }
  return value as Json
}

/** Writes JSON text without spaces; a bigint becomes an integer of all its digits. Undefined properties are left out. */
export function stringifyJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map((item) => stringifyJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const properties = Object.entries(value).filter(([, item]) => item !== undefined)
    return `{${properties.map(([key, item]) => `${JSON.stringify(key)}:${stringifyJson(item)}`).join(',')}}`
  }
  return JSON.stringify(value)
}
