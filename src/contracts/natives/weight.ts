/** What it costs to walk through a whole value (printing, hashing, comparing), and which values are too large for it. */
import { COST, LIMIT } from '../machine/costs.ts'
import type { Arguments } from '../machine/native.ts'
import { sizeOf } from '../values/size.ts'
import type { Value } from '../values/value.ts'

/** Takes gas by the size. Refuses values that are too large or nested too deeply. */
export function weigh(value: Value, args: Arguments): number {
  const { weight, depth } = sizeOf(value)
  args.charge(Math.min(weight, LIMIT.weight) * COST.weight)
  if (weight > LIMIT.weight) throw args.error('Value too large')
  if (depth > LIMIT.depth) throw args.error('Value nested too deeply')
  return weight
}
