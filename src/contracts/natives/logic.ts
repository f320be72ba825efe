/** Comparisons and logical natives. */

import { failure } from '../failures/failure.ts'
import { COST, productCost } from '../machine/costs.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import { bitLength } from '../values/bits.ts'
import { Decimal } from '../values/decimal.ts'
import { equalValues } from '../values/equal.ts'
import { compareAlike } from '../values/ordering.ts'
import { showValue } from '../values/print.ts'
import { hasTable } from '../values/table-within.ts'
import type { Value } from '../values/value.ts'
import { weigh } from './weight.ts'

/** Equality of two values, charged by the size of the compared data. Tables never equal anything, not even themselves. */
export function same(args: Arguments, a: Value, b: Value): boolean {
  chargeCompare(args, a, b)
  // Charge identical objects too: gas must not depend on whether a row was read twice or reused.
  if (typeof a === 'object' && typeof b === 'object') {
    weigh(a, args)
    weigh(b, args)
  }
  return equalValues(a, b) && !hasTable(a)
}

function chargeCompare(args: Arguments, a: Value, b: Value): void {
  if (typeof a === 'string' && typeof b === 'string') args.charge(COST.compare + Math.min(a.length, b.length))
  else if (typeof a === 'bigint' && typeof b === 'bigint') args.charge(COST.compare + wordBits(a, b))
  else if (a instanceof Decimal && b instanceof Decimal) {
    const [x, y] = [a.mantissa, b.mantissa]
    args.charge(COST.compare + productCost(Math.max(bitLength(x), bitLength(y))) + wordBits(x, y))
  } else args.charge(COST.compare)
}

/** Numbers count as at least one word of 64 bits. */
function wordBits(a: bigint, b: bigint): number {
  return Math.max(64, bitLength(a), bitLength(b))
}

function comparison(name: string, holds: (order: number) => boolean): Native {
  return native(name, 2, 2, (args) => {
    const [a, b] = [args.value(0), args.value(1)]
    chargeCompare(args, a, b)
    const order = compareAlike(a, b)
    if (order === null) throw args.wrong()
    return holds(order)
  })
}

/**
 * Value of a required field.
 * @throws EvalError if the field is missing
 */
export function fieldOf(args: Arguments, object: ReadonlyMap<string, Value>, key: string): Value {
  const value = object.get(key)
  if (value === undefined) throw failure('NO_FIELD', { field: key, object: () => showValue(object) }, args.place)
  return value
}

export const LOGIC: readonly Native[] = [
  native('=', 2, 2, (args) => same(args, args.value(0), args.value(1))),
  native('!=', 2, 2, (args) => !same(args, args.value(0), args.value(1))),
  comparison('<', (order) => order < 0),
  comparison('<=', (order) => order <= 0),
  comparison('>', (order) => order > 0),
  comparison('>=', (order) => order >= 0),
  native('not', 1, 1, (args) => !args.bool(0)),
  native('not?', 2, 2, (args) => !args.test(args.fn(0), [args.value(1)])),
  native('and?', 3, 3, (args) => {
    const [first, second, value] = [args.fn(0), args.fn(1), args.value(2)]
    return args.test(first, [value]) && args.test(second, [value])
  }),
  native('or?', 3, 3, (args) => {
    const [first, second, value] = [args.fn(0), args.fn(1), args.value(2)]
    return args.test(first, [value]) || args.test(second, [value])
  }),
  native('where', 3, 3, (args) => {
    const [key, fn, object] = [args.text(0), args.fn(1), args.object(2)]
    args.charge(COST.compare + key.length)
    return args.test(fn, [fieldOf(args, object, key)])
  }),
]
