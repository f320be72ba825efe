/** Writes calls of contracts as code, for contracts that `newcut types` has declared. */
import { NewcutError } from '#ground/base/errors.ts'

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
 * @returns a function that writes a call: `call('coin.get-balance', 'alice')` is `(coin.get-balance "alice")`. It throws
 * NewcutError BAD_INPUT for an argument that no code stands for
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

/** @param what names the argument in errors */
function codeOf(value: unknown, what: string): string {
  if (typeof value === 'string') return textCode(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'function') return String(value())
  if (Array.isArray(value)) return `[${value.map((item) => codeOf(item, what)).join(' ')}]`
  if (value instanceof Date) return timeCode(value, what)
  if (typeof value !== 'object' || value === null) {
    const hint = `numbers are { int: '1' } or { decimal: '1.5' }, and code is a function that returns it`
    throw new NewcutError('BAD_INPUT', `${what} is ${value === null ? 'null' : `a ${typeof value}`}`, { hint })
  }
  const fields = value as Readonly<Record<string, unknown>>
  if (typeof fields.getValue === 'function') return String(fields.getValue())
  if ('int' in fields) return numberCode(String(fields.int), WHOLE, what)
  if ('decimal' in fields) return numberCode(String(fields.decimal), DECIMAL, what)
  return `{${Object.entries(fields)
    .map(([field, item]) => `${textCode(field)}: ${codeOf(item, what)}`)
    .join(', ')}}`
}

/** A decimal always has a point: without one it would be an integer. */
function numberCode(text: string, form: RegExp, what: string): string {
  const match = form.exec(text)
  if (match === null) {
    throw new NewcutError('BAD_INPUT', `${what}: ${JSON.stringify(text)} is not a number in plain notation`)
  }
  return form === DECIMAL && match[2] === undefined ? `${text}.0` : text
}

function timeCode(value: Date, what: string): string {
  if (Number.isNaN(value.getTime())) throw new NewcutError('BAD_INPUT', `${what} is an invalid date`)
  return `(parse-time "%Y-%m-%dT%H:%M:%S.%vZ" "${value.toISOString().replace(/(\.\d{3})Z$/, '$1000Z')}")`
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const textCode = (text: string) => `"${text.replaceAll(/[\\"\n\r\t]/g, (each) => ESCAPES[each])}"`
