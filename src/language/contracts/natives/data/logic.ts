/** Comparisons and logical natives. */

import { failure } from '../../failures/failure.ts'
import { ofComparison, ofLookup, shownNumber, shownText } from '../../machine/gas/cost-names.ts'
import { COST, productCost } from '../../machine/gas/costs.ts'
import {
  decimalComparisonPrice,
  integerComparisonPrice,
  lookupPrice,
  PRICE,
  textComparisonPrice,
} from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { bitLength } from '../../values/bits.ts'
import { compareText, equalValues } from '../../values/compare.ts'
import { Decimal } from '../../values/decimal.ts'
import { compareAlike } from '../../values/ordering.ts'
import { showValue } from '../../values/print.ts'
import { hasTable } from '../../values/table-within.ts'
import { CapabilityToken, Guard, type GuardKind, type ObjectValue, type Value } from '../../values/value.ts'
import { weigh } from './weight.ts'

/**
 * Equality of two values, charged as the network does: by what it compares before it knows the answer.
 *
 * Tables never equal anything, not even themselves.
 */
export function same(args: Arguments, a: Value, b: Value): boolean {
  // Identical objects count too: work must not depend on whether a row was read twice or reused.
  if (typeof a === 'object' && typeof b === 'object') {
    weigh(a, args)
    weigh(b, args)
  } else args.work(COST.compare)
  return payComparison(args, a, b) && !hasTable(a)
}

/** @returns whether the values are equal */
function payComparison(args: Arguments, a: Value, b: Value): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return payAll(args, a, b)
  if (a instanceof Map && b instanceof Map) return payFields(args, a as ObjectValue, b as ObjectValue)
  if (a instanceof CapabilityToken && b instanceof CapabilityToken) {
    return a.name === b.name && payAll(args, a.args, b.args)
  }
  if (a instanceof Guard && b instanceof Guard && 'args' in a.is && 'args' in b.is) {
    const bare = (guard: Guard) => new Guard({ ...guard.is, args: [] } as GuardKind)
    return equalValues(bare(a), bare(b)) && payAll(args, a.is.args, b.is.args)
  }
  payScalars(args, a, b)
  return equalValues(a, b)
}

function payAll(args: Arguments, a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false
  args.charge(PRICE.comparison * a.length, ofComparison('ListComparison', a.length))
  return a.every((item, i) => payComparison(args, item, b[i]))
}

/** The network compares the names of all fields first, then the values in the order of the names. */
function payFields(args: Arguments, a: ObjectValue, b: ObjectValue): boolean {
  if (a.size !== b.size) return false
  args.charge(PRICE.comparison * a.size, ofComparison('ObjComparison', a.size))
  const names = [...a.keys()]
  if (!names.every((name) => b.has(name))) return false
  return names.sort(compareText).every((name) => payComparison(args, a.get(name) as Value, b.get(name) as Value))
}

/** Values of different types, times and booleans are compared free of charge. */
function payScalars(args: Arguments, a: Value, b: Value): void {
  if (typeof a === 'string' && typeof b === 'string')
    args.charge(textComparisonPrice(a), () => `GComparison (TextComparison ${shownText(a)})`)
  else if (typeof a === 'bigint' && typeof b === 'bigint') {
    args.charge(integerComparisonPrice(a, b), () => `GComparison (IntComparison ${shownNumber(a)} ${shownNumber(b)})`)
  } else if (a instanceof Decimal && b instanceof Decimal) {
    args.charge(decimalComparisonPrice(a, b), () => {
      return `GComparison (DecimalComparison ${shownNumber(a)} ${shownNumber(b)})`
    })
    args.work(productCost(Math.max(bitLength(a.mantissa), bitLength(b.mantissa))))
  }
}

function comparison(name: string, holds: (order: number) => boolean): Native {
  return native(name, 2, 2, (args) => {
    const [a, b] = [args.value(0), args.value(1)]
    payScalars(args, a, b)
    const order = compareAlike(a, b)
    if (order === null) throw args.typeError()
    return holds(order)
  })
}

/**
 * Value of a required field.
 * @throws EvalError if the field is missing
 */
export function objectField(args: Arguments, object: ReadonlyMap<string, Value>, key: string): Value {
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
    args.charge(lookupPrice(key, object.size), ofLookup(key, object.size))
    return args.test(fn, [objectField(args, object, key)])
  }),
]
