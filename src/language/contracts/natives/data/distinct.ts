/** Distinct values of a list in linear time: equal values have the same key. */
import type { Arguments } from '../../machine/native.ts'
import { compareText } from '../../values/compare.ts'
import { Decimal } from '../../values/decimal.ts'
import { guardParts } from '../../values/ordering.ts'
import { CapabilityToken, Guard, ModuleRef, Time, Unit, type Value } from '../../values/value.ts'
import { same } from './logic.ts'
import { weigh } from './weight.ts'

/**
 * The first occurrence of each value, in order. Tables are never equal, so all occurrences of a table remain.
 *
 * The network compares each of them with all values after it, and charges that.
 */
export function distinctValues(args: Arguments, list: readonly Value[]): readonly Value[] {
  args.workList(list.length)
  weigh(list, args)
  const distinct: Value[] = []
  let left = list
  while (left.length > 0) {
    const [first, ...rest] = left
    distinct.push(first)
    left = rest.filter((other) => !same(args, first, other))
  }
  return distinct
}

/** Canonical key: two values have the same key if and only if they are equal. */
export function valueKey(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `i${value.toString(16)}`
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value instanceof Decimal) return decimalKey(value)
  if (value instanceof Time) return `t${value.micros}`
  if (value instanceof Unit) return '()'
  if (value instanceof ModuleRef) return `m${JSON.stringify(value.name)}`
  if (value instanceof CapabilityToken) return `c${valueKey([value.name, ...value.args])}`
  if (value instanceof Guard) return `g${valueKey(guardParts(value.is))}`
  if (value instanceof Map) return objectKey(value)
  return `[${(value as readonly Value[]).map(valueKey).join(',')}]`
}

function decimalKey(value: Decimal): string {
  const { mantissa, places } = value.normalise()
  return `d${mantissa.toString(16)}/${places}`
}

function objectKey(object: ReadonlyMap<string, Value>): string {
  const fields = [...object].sort(([a], [b]) => compareText(a, b))
  return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${valueKey(value)}`).join(',')}}`
}
