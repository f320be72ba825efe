/**
 * How large a value is as a tree. Values share parts, so a few steps can make a tree that no walk through it would ever
 * end; whatever walks through a whole value (printing, hashing, comparing) asks for its weight first.
 */
import { Decimal } from '../values/decimal.ts'
import { CapabilityToken, Guard, type Value } from '../values/value.ts'
import type { Arguments } from './arguments.ts'
import { bitLength, COST, LIMIT } from './costs.ts'

const NODE = 10
const SLICE = 10_000

/** Takes gas on the way. Refuses values that are too large or nested too deeply. */
export function weigh(value: Value, args: Arguments): number {
  let total = 0
  let unpaid = 0

  const add = (weight: number): void => {
    total += weight
    unpaid += weight
    if (unpaid < SLICE) return
    args.charge(unpaid * COST.weight)
    unpaid = 0
    if (total > LIMIT.weight) throw args.error('Value too large')
  }

  const walk = (part: Value, depth: number): void => {
    if (depth > LIMIT.depth) throw args.error('Value nested too deeply')
    add(NODE)
    if (typeof part === 'string') add(part.length)
    else if (typeof part === 'bigint') add(digits(part))
    else if (part instanceof Decimal) add(digits(part.mantissa) + part.places)
    else if (Array.isArray(part)) for (const item of part as readonly Value[]) walk(item, depth + 1)
    else if (part instanceof Map) {
      for (const [key, item] of part as ReadonlyMap<string, Value>) {
        add(key.length)
        walk(item, depth + 1)
      }
    } else if (part instanceof CapabilityToken) for (const item of part.args) walk(item, depth + 1)
    else if (part instanceof Guard) {
      if ('args' in part.is) for (const item of part.is.args) walk(item, depth + 1)
      if (part.is.kind === 'keyset') add(part.is.keys.length * 64)
    }
  }

  walk(value, 0)
  args.charge(unpaid * COST.weight)
  return total
}

/** About how many decimal digits. */
function digits(n: bigint): number {
  return n < 1_000_000_000n && n > -1_000_000_000n ? 1 : Math.ceil(bitLength(n) * 0.302)
}
