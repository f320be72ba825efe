/** Text form of values, as `show`, `format` and error messages print them. */

import { compareText } from './compare.ts'
import { Decimal } from './decimal.ts'
import { isoSeconds } from './time-text.ts'
import { Guard, type GuardKind, ModuleRef, type ObjectValue, TableRef, Time, Unit, type Value } from './value.ts'

/**
 * Source form: strings in quotes without escapes, `[1, 2]`, `{"a": 1,"b": 2}` with sorted fields, times as strings to
 * the second.
 */
export function showValue(value: Value): string {
  if (typeof value === 'string') return `"${value}"`
  if (typeof value === 'bigint' || typeof value === 'boolean') return value.toString()
  // All places are shown, also those of a whole number: 10.00.
  if (value instanceof Decimal) return value.places === 0 ? `${value}.0` : value.toString()
  if (Array.isArray(value)) return showList(value)
  if (value instanceof Map) return showObject(value)
  if (value instanceof Time) return `"${isoSeconds(value)}"`
  if (value instanceof Unit) return '()'
  if (value instanceof Guard) return showGuard(value.is)
  if (value instanceof ModuleRef) return value.name
  if (value instanceof TableRef) return `${value.module}_${value.name}`
  const token = value as { readonly name: string; readonly args: readonly Value[] }
  return `CapToken(${[token.name, ...token.args.map(showValue)].join(' ')})`
}

/** Source form of a call, such as `(coin.TRANSFER "a" "b" 1.0)`. */
export function showCall(name: string, args: readonly Value[]): string {
  return `(${[name, ...args.map(showValue)].join(' ')})`
}

/** Text that `format` inserts for `{}`: a string as is, other values in source form. */
export function formatValue(value: Value): string {
  return typeof value === 'string' ? value : showValue(value)
}

function showList(items: readonly Value[]): string {
  return `[${items.map(showValue).join(', ')}]`
}

function showObject(fields: ObjectValue): string {
  const sorted = [...fields].sort(([a], [b]) => compareText(a, b))
  return `{${sorted.map(([field, value]) => `"${field}": ${showValue(value)}`).join(',')}}`
}

function showGuard(guard: GuardKind): string {
  switch (guard.kind) {
    case 'keyset':
      return `KeySet {keys: [${[...guard.keys].sort(compareText).join(', ')}],pred: ${guard.predicate}}`
    case 'keysetRef':
      return `'${guard.name}`
    case 'user':
      return `UserGuard {fun: ${guard.fun},args: ${showList(guard.args)}}`
    case 'capability':
      return `CapabilityGuard {name: ${guard.name},args: ${showList(guard.args)},pactId: ${guard.pactId ?? ''}}`
    case 'module':
      return `ModuleGuard {module: ${guard.module},name: ${guard.name}}`
    case 'pact':
      return `PactGuard {pactId: ${guard.pactId},name: ${guard.name}}`
  }
}
