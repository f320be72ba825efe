/** Converts literals of the contract language to the JSON that clients send: amounts stay exact, as text. */

import type { Form } from '../contracts/syntax/form.ts'
import type { Decimal } from '../contracts/values/decimal.ts'

/** JSON of a value: `{"decimal":"1.5"}`, `{"int":3}`, strings, booleans, lists, objects. */
export type LiteralJson =
  | string
  | boolean
  | readonly LiteralJson[]
  | { readonly [field: string]: LiteralJson | number | null }

/** A decimal as an argument of a capability. */
export const decimalJson = (value: Decimal): LiteralJson => ({ decimal: value.toString() })

function integerJson(value: bigint): LiteralJson {
  const number = Number(value)
  return { int: Number.isSafeInteger(number) ? number : value.toString() }
}

/** @returns the JSON of a literal, or null for code, which has no value before it runs */
export function literalJson(form: Form): LiteralJson | null {
  switch (form.form) {
    case 'string':
      return form.value
    case 'number':
      return typeof form.value === 'bigint' ? integerJson(form.value) : decimalJson(form.value)
    case 'atom':
      return form.name === 'true' || form.name === 'false' ? form.name === 'true' : null
    case 'list':
      return allOf(form.items.map(literalJson))
    case 'object': {
      const values = allOf(form.fields.map(([, value]) => literalJson(value)))
      return values && Object.fromEntries(form.fields.map(([field], i) => [field, values[i]]))
    }
    default:
      return null
  }
}

function allOf(items: readonly (LiteralJson | null)[]): LiteralJson[] | null {
  return items.every((item) => item !== null) ? ([...items] as LiteralJson[]) : null
}
