/** Distinct values of a list in linear time: equal values have the same key. */
import { COST } from '../machine/costs.ts'
import type { Arguments } from '../machine/native.ts'
import { Decimal } from '../values/decimal.ts'
import { compareText } from '../values/order.ts'
import { guardParts } from '../values/ordering.ts'
import { hasTable } from '../values/table-within.ts'
import { CapabilityToken, Guard, ModuleRef, Time, Unit, type Value } from '../values/value.ts'
import { weigh } from './weight.ts'

/** The first occurrence of each value, in order. Tables are never equal, so all occurrences of a table remain. */
export function distinctValues(args: Arguments, list: readonly Value[]): readonly Value[] {
  args.chargeList(list.length, COST.listElement)
  args.charge(weigh(list, args) * COST.weight)
  const seen = new Set<string>()
  return list.filter((item) => {
    if (hasTable(item)) return true
    const key = keyOf(item)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** Canonical key: two values have the same key if and only if they are equal. */
export function keyOf(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `i${value.toString(16)}`
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value instanceof Decimal) return decimalKey(value)
  if (value instanceof Time) return `t${value.micros}`
  if (value instanceof Unit) return '()'
  if (value instanceof ModuleRef) return `m${JSON.stringify(value.name)}`
  if (value instanceof CapabilityToken) return `c${keyOf([value.name, ...value.args])}`
  if (value instanceof Guard) return `g${keyOf(guardParts(value.is))}`
  if (value instanceof Map) return objectKey(value)
  return `[${(value as readonly Value[]).map(keyOf).join(',')}]`
}

function decimalKey(value: Decimal): string {
  const { mantissa, places } = value.normalise()
  return `d${mantissa.toString(16)}/${places}`
}

function objectKey(object: ReadonlyMap<string, Value>): string {
  const fields = [...object].sort(([a], [b]) => compareText(a, b))
  return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${keyOf(value)}`).join(',')}}`
}
