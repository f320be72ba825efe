/**
 * Literals of the contract language, and capabilities to which a signature is limited: `(coin.TRANSFER "alice" "bob" 1.5)`.
 * Clients send both as JSON, in which amounts stay exact, as text.
 */
import { operatingError } from '#ground/base/errors.ts'
import type { ExactJson } from '#ground/base/json.ts'
import { ContractError } from '#language/contracts/errors.ts'
import type { Form } from '#language/contracts/syntax/form.ts'
import { read } from '#language/contracts/syntax/reader.ts'
import type { Decimal } from '#language/contracts/values/decimal.ts'
import { walletErrors } from './errors.ts'

/** A capability with its arguments, as in the list of a signer. */
export interface Capability {
  /** `module.CAP` or `namespace.module.CAP`. */
  readonly name: string
  readonly args: readonly ExactJson[]
}

/** Permission to buy gas from the account of the sender. */
export const GAS: Capability = { name: 'coin.GAS', args: [] }

const QUALIFIED = /^[^.]+(\.[^.]+){1,2}$/

/** Parses a capability. @throws NewcutError BAD_OPTION, which says what is wrong with it */
export function readCapability(text: string): Capability {
  const refuse = (what: string): never => {
    throw operatingError(walletErrors.badCapability, { text, what })
  }
  const forms = formsOf(text, refuse)
  const [form] = forms
  if (forms.length !== 1 || form.form !== 'call') return refuse('not one form in parentheses')
  const [name, ...rest] = form.items
  if (name?.form !== 'atom' || name.type !== null || name.member !== null || !QUALIFIED.test(name.name)) {
    return refuse('its name is not module.CAP or namespace.module.CAP')
  }
  const args = rest.map((each) => {
    const value = literalToJson(each)
    return value ?? refuse(`${text.slice(each.from, each.to)} is code; arguments are plain values`)
  })
  return { name: name.name, args }
}

function formsOf(text: string, refuse: (what: string) => never) {
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return refuse(error.message)
  }
}

/** JSON of a value: `{"decimal":"1.5"}`, `{"int":3}`, strings, booleans, lists, objects. */
export type LiteralJson =
  | string
  | boolean
  | readonly LiteralJson[]
  | { readonly [field: string]: LiteralJson | number | null }

/** A decimal as an argument of a capability. */
export const decimalToJson = (value: Decimal): LiteralJson => ({ decimal: value.toString() })

function integerToJson(value: bigint): LiteralJson {
  const number = Number(value)
  return { int: Number.isSafeInteger(number) ? number : value.toString() }
}

/** Quotes a string for code. */
export function quoteForCode(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return `"${escaped}"`
}

/** @returns the JSON of a literal, or null for code, which has no value before it runs */
export function literalToJson(form: Form): LiteralJson | null {
  switch (form.form) {
    case 'string':
      return form.value
    case 'number':
      return typeof form.value === 'bigint' ? integerToJson(form.value) : decimalToJson(form.value)
    case 'atom':
      return form.name === 'true' || form.name === 'false' ? form.name === 'true' : null
    case 'list':
      return allOrNull(form.items.map(literalToJson))
    case 'object': {
      const values = allOrNull(form.fields.map(([, value]) => literalToJson(value)))
      return values && Object.fromEntries(form.fields.map(([field], i) => [field, values[i]]))
    }
    default:
      return null
  }
}

function allOrNull(items: readonly (LiteralJson | null)[]): LiteralJson[] | null {
  return items.every((item) => item !== null) ? ([...items] as LiteralJson[]) : null
}
