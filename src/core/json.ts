/**
 * JSON whose integers are exact. JSON.parse rounds integers beyond 2^53 (PROTOCOL.md B.6: `featureFlags` of real blocks
 * is such a number); here they arrive as bigint, and a bigint is written as a plain integer.
 */

export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json }

/** Runs of digits that may be an unsafe integer: 2^53 - 1 = 9007199254740991 has 16 digits. */
const MAYBE_UNSAFE = /\d{17}|9\d{15}/
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const INTEGER = /^-?\d+$/
const MARK = '__integer'

/** Parses JSON text. Integers beyond 2^53 - 1 become bigint, all other numbers number. Throws SyntaxError. */
export function parseJson(text: string): Json {
  if (!MAYBE_UNSAFE.test(text)) return JSON.parse(text)
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `{"${MARK}":"${token}"}` : token,
  )
  return JSON.parse(marked, (_key, value) => {
    const digits: unknown = value?.[MARK]
    return typeof digits === 'string' && INTEGER.test(digits) ? BigInt(digits) : value
  })
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
