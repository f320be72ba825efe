/** Values of contracts, from the JSON of results to the syntax of the language. */

import { placeText } from '#ground/base/printable.ts'

/** Error of a result. */
export interface FailedResult {
  readonly message: string
  /** Place in the code, as nodes write it. */
  readonly info?: string
}

/** The message of an error, and its place in words. */
export const faultText = (error: FailedResult | undefined) =>
  error === undefined ? '' : `${error.message}${placeText(error.info)}`

type JsonFields = Readonly<Record<string, unknown>>

/** Source form of a value in results: `{"int":3}` becomes 3, `{"decimal":"1.5"}` 1.5. Guards are shortened. */
export function briefValue(json: unknown): string {
  if (typeof json === 'string') return JSON.stringify(json)
  if (typeof json === 'number') return plainDecimal(json)
  if (Array.isArray(json)) return `[${json.map(briefValue).join(' ')}]`
  if (typeof json !== 'object' || json === null) return String(json)
  const fields = json as JsonFields
  const { int, decimal, time, timep, pred, keys, keysetref, cgName, fun, refName } = fields
  const only = Object.keys(fields).length === 1
  if (only && int !== undefined) return String(int)
  if (only && decimal !== undefined) return String(decimal)
  if (only && (time ?? timep) !== undefined) return `(time ${JSON.stringify(time ?? timep)})`
  if (typeof pred === 'string' && Array.isArray(keys)) return `${pred} [${keys.map(shortKey).join(' ')}]`
  if (only && typeof keysetref === 'string') return `keyset ${keysetref}`
  if (typeof keysetref === 'object' && keysetref !== null)
    return `keyset ${qualifiedName(keysetref as JsonFields, 'ksn')}`
  if (typeof cgName === 'string') return `capability ${cgName}`
  if (typeof fun === 'string') return `guard ${fun}`
  if (typeof refName === 'object' && refName !== null) return qualifiedName(refName as JsonFields, 'name')
  return `{${Object.entries(fields)
    .map(([name, value]) => `${JSON.stringify(name)}: ${briefValue(value)}`)
    .join(', ')}}`
}

/** Digits of a decimal without an exponent. Bare numbers in results are decimals: integers are `{"int":3}`. */
export function plainDecimal(number: number): string {
  const text = number.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 })
  return text.includes('.') ? text : `${text}.0`
}

/** A guard with its whole keys. */
export function guardText(json: unknown): string {
  const { pred, keys } = (json ?? {}) as JsonFields
  return typeof pred === 'string' && Array.isArray(keys) ? `${pred} [${keys.join(' ')}]` : briefValue(json)
}

const shortKey = (key: unknown) => {
  const text = String(key)
  return text.length > 20 ? `${text.slice(0, 8)}…` : text
}

function qualifiedName({ ns, namespace, ...rest }: JsonFields, name: string): string {
  const space = ns ?? namespace
  return typeof space === 'string' ? `${space}.${String(rest[name])}` : String(rest[name])
}
