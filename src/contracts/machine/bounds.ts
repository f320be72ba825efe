/** Size limits of values, and the weight by which operations are charged. */
import { evalError } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { sizeOf } from '../values/size.ts'
import type { Value } from '../values/value.ts'
import { LIMIT } from './costs.ts'

/**
 * Checks a new value against the limits.
 * @returns the value itself
 * @throws EvalError if it is too large or nested too deeply to walk
 */
export function bounded<V extends Value>(value: V): V {
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
