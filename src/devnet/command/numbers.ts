/**
 * Parses numbers of a command in the spellings of live nodes (PROTOCOL.md E.2), from JSON of parseExactJson.
 */
import { FormatError } from '#ground/base/errors.ts'
import { type ExactJson, NumberText } from '#ground/base/json.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'

const DIGITS = /^-?\d{1,20}$/
/** Bounds the length of the text, and with it the parsing time. */
const DECIMAL = /^-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,5})?$/

/**
 * Parses a whole number: `600`, `6e2`, `"600"` or `{"int":600}`. Live nodes also accept fractions, and round them.
 * @returns null if it is not a whole number, or beyond 2^53 - 1
 */
export function wholeNumberOf(json: unknown): number | null {
  if (typeof json === 'string') return DIGITS.test(json) ? safe(BigInt(json)) : null
  if (typeof json === 'object' && json !== null && Object.hasOwn(json, 'int')) return integerIn(json as IntObject)
  return readJsonInteger(json)
}

/** Parses an unquoted whole number: `1` or `1.0`. @returns null if it is none, or beyond 2^53 - 1 */
export function readJsonInteger(json: unknown): number | null {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json + 0 : null
  const number = json instanceof NumberText ? readJsonDecimal(json) : null
  return number?.places === 0 ? safe(number.mantissa) : null
}

/**
 * Parses a number: `1e-8` or `"0.00000001"`. Also accepts a string with an exponent, which live nodes refuse.
 * @returns null if it is not a number, or has more than 255 places
 */
export function readJsonDecimal(json: unknown): Decimal | null {
  const text = json instanceof NumberText ? json.text : json
  if (!['number', 'bigint', 'string'].includes(typeof text) || !DECIMAL.test(String(text))) return null
  return Decimal.parse(String(text))?.normalise() ?? null
}

interface IntObject {
  readonly int: ExactJson
}

/** Parses an integer object of the contract language. @returns null if it holds no integer, or one beyond 2^53 - 1 */
function integerIn({ int }: IntObject): number | null {
  // Only a string or a number can hold an integer.
  if (int === null || typeof int === 'boolean' || (typeof int === 'object' && !(int instanceof NumberText))) return null
  try {
    const value = valueFromJson({ int })
    return typeof value === 'bigint' ? safe(value) : null
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}

function safe(integer: bigint): number | null {
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : null
}
