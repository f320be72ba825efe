/** Counts the work of walking a whole value (printing, hashing, comparing), and refuses values that are too large. */
import { COST, LIMIT } from '../../machine/gas/costs.ts'
import type { Arguments } from '../../machine/native.ts'
import { sizeOf } from '../../values/size.ts'
import type { Value } from '../../values/value.ts'

/**
 * Counts work by the size of the value.
 * @returns its weight
 * @throws EvalError if the value is too large or nested too deeply
 */
export function weigh(value: Value, args: Arguments): number {
  const { weight, depth } = sizeOf(value)
  args.work(Math.min(weight, LIMIT.weight) * COST.weight)
  if (weight > LIMIT.weight) throw args.error('Value too large')
  if (depth > LIMIT.depth) throw args.error('Value nested too deeply')
  return weight
}
