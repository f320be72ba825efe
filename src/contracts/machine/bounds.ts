/** Bounds of values, and their size, by which work on them is paid. */
import { evalError } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { sizeOf } from '../values/size.ts'
import type { Value } from '../values/value.ts'
import { LIMIT } from './costs.ts'

/** Returns a value that was made. Throws EvalError if it is too large or too deep for what walks through values. */
export function bounded<V extends Value>(value: V): V {
  if (typeof value !== 'object' || value instanceof Decimal) return value
  const { weight, depth } = sizeOf(value)
  if (weight > LIMIT.weight) throw evalError('Value too large')
  if (depth > LIMIT.depth) throw evalError('Value nested too deeply')
  return value
}

/** The size of a value, by which work on it is paid. */
export function weightOf(value: Value): number {
  return Math.min(sizeOf(value).weight, LIMIT.weight)
}
