/** Size limits of values, and the weight by which operations are charged. */
import { evalError } from '../../errors.ts'
import { Decimal } from '../../values/decimal.ts'
import { sizeOf } from '../../values/size.ts'
import type { Value } from '../../values/value.ts'
import { LIMIT } from './costs.ts'

/**
 * Checks a new value against the limits.
 * @returns the value itself
 * @throws EvalError if it is too large or nested too deeply to walk
 */
export function checkSize<V extends Value>(value: V): V {
  if (typeof value !== 'object' || value instanceof Decimal) return value
  const { weight, depth } = sizeOf(value)
  if (weight > LIMIT.weight) throw evalError('Value too large')
  if (depth > LIMIT.depth) throw evalError('Value nested too deeply')
  return value
}

/** Size of a value, by which operations on it are charged. */
export function weightOf(value: Value): number {
  return Math.min(sizeOf(value).weight, LIMIT.weight)
}

/** Numbers beyond this have no length as a double, so it is searched for each time. */
const LONG = 1n << 1024n
/** Work of one search. */
const MEASURE_WORK = 700

/** Work of measuring values that become part of a token or a guard, in units. */
export function measureWork(values: readonly unknown[]): number {
  let units = 0
  for (const value of values) {
    const n = value instanceof Decimal ? value.mantissa : value
    if (typeof n === 'bigint' && (n >= LONG || n <= -LONG)) units += MEASURE_WORK
  }
  return units
}
