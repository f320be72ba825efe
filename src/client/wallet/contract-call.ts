/** Writes calls of contracts as code, for contracts that `newcut types` has declared. */
import { operatingError } from '#ground/base/errors.ts'
import { walletErrors } from './errors.ts'

/** An argument of a call. A function gives code, such as `() => '(read-keyset "ks")'`. */
export type CallArgument =
  | string
  | boolean
  | { readonly int: string | number }
  | { readonly decimal: string }
  | Date
  | (() => string)
  | readonly CallArgument[]
  | { readonly [field: string]: CallArgument }

/** The arguments of a function that `newcut types` has declared, as a tuple. */
export type ArgumentsOf<Declared> = Declared extends { readonly args: infer Args extends readonly unknown[] }
  ? Args
  : never

/**
 * @returns a function that writes a call: `call('coin.get-balance', 'alice')` is `(coin.get-balance "alice")`.
 * The function throws NewcutError BAD_INPUT for an argument that no code stands for
 * @typeParam Functions the type of this name in a file of `newcut types`
 */
export function callsOf<Functions>(): <Name extends keyof Functions & string>(
  name: Name,
  ...args: ArgumentsOf<Functions[Name]>
) => string {
  return (name, ...args) => `(${[name, ...args.map((arg, i) => codeOf(arg, `${name}: argument ${i + 1}`))].join(' ')})`
}

const WHOLE = /^-?\d+$/
const DECIMAL = /^(-?\d+)(\.\d+)?$/

/** @param argument names the argument in errors */
function codeOf(value: unknown, argument: string): string {
  if (typeof value === 'string') return textCode(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'function') return String(value())
  if (Array.isArray(value)) return `[${value.map((item) => codeOf(item, argument)).join(' ')}]`
  if (value instanceof Date) return timeCode(value, argument)
  if (typeof value !== 'object' || value === null) {
    const type = value === null ? 'null' : `a ${typeof value}`
    throw operatingError(walletErrors.badArgument, { argument, type, forms: "{ int: '1' } or { decimal: '1.5' }" })
  }
  const fields = value as Readonly<Record<string, unknown>>
  if (typeof fields.getValue === 'function') return String(fields.getValue())
  if ('int' in fields) return numberCode(String(fields.int), WHOLE, argument)
  if ('decimal' in fields) return numberCode(String(fields.decimal), DECIMAL, argument)
  return `{${Object.entries(fields)
    .map(([field, item]) => `${textCode(field)}: ${codeOf(item, argument)}`)
    .join(', ')}}`
}

/** A decimal always has a point: without one it would be an integer. */
function numberCode(text: string, form: RegExp, argument: string): string {
  const match = form.exec(text)
  if (match === null) {
    throw operatingError(walletErrors.badNumber, { argument, text: JSON.stringify(text) })
  }
  return form === DECIMAL && match[2] === undefined ? `${text}.0` : text
}

function timeCode(value: Date, argument: string): string {
  if (Number.isNaN(value.getTime())) throw operatingError(walletErrors.badDate, { argument })
  return `(parse-time "%Y-%m-%dT%H:%M:%S.%vZ" "${value.toISOString().replace(/(\.\d{3})Z$/, '$1000Z')}")`
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const textCode = (text: string) => `"${text.replaceAll(/[\\"\n\r\t]/g, (each) => ESCAPES[each])}"`
