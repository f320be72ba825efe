/** Arithmetic natives. `+` also concatenates strings and lists, and merges objects. */

import { ofIntegers, ofList, ofObject, ofText, shownNumber } from '../../machine/gas/cost-names.ts'
import { integerCost } from '../../machine/gas/costs.ts'
import {
  countCharacters,
  exponentialPrice,
  logarithmPrice,
  PRICE,
  powerPrice,
  productPrice,
  squareRootPrice,
  sumPrice,
} from '../../machine/gas/prices.ts'
import { type Arguments, isList, isObject, type Native, native } from '../../machine/native.ts'
import type { Term } from '../../machine/term.ts'
import { bitLength } from '../../values/bits.ts'
import { Decimal } from '../../values/decimal.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { naturalLog } from './logarithm.ts'
import {
  byDoubles,
  decimalPower,
  finite,
  floorDivide,
  integerPower,
  mantissa,
  type Numeric,
  nextInteger,
  shift,
  sign,
  toDecimal,
  toDouble,
  withinBits,
  workProduct,
  workSum,
} from './numbers.ts'

/** Two integers give an integer; an integer combined with a decimal is converted to a decimal. */
function combine(
  args: Arguments,
  integers: (a: bigint, b: bigint) => bigint,
  decimals: (a: Decimal, b: Decimal) => Decimal,
): Numeric {
  const [a, b] = [args.number(0), args.number(1)]
  if (typeof a === 'bigint' && typeof b === 'bigint') return withinBits(args, integers(a, b))
  return withinBits(args, decimals(toDecimal(a), toDecimal(b)))
}

function add(args: Arguments): Term {
  const [a, b] = args.all
  if (typeof a === 'string' && typeof b === 'string') {
    const count = countCharacters(a) + countCharacters(b)
    args.charge(PRICE.character * count, ofText(count))
    args.workText(a.length + b.length)
    return a + b
  }
  if (isList(a) && isList(b)) {
    args.charge(PRICE.item * (a.length + b.length), ofList(a.length + b.length))
    args.workList(a.length + b.length)
    return a.concat(b)
  }
  if (isObject(a) && isObject(b)) return join(args, a, b)
  paySum(args, 'Add')
  return combine(
    args,
    (x, y) => x + y,
    (x, y) => x.add(y),
  )
}

function paySum(args: Arguments, operation: 'Add' | 'Sub'): void {
  const [a, b] = [args.number(0), args.number(1)]
  args.charge(sumPrice(mantissa(a), mantissa(b)), ofIntegers(operation, mantissa(a), mantissa(b)))
  workSum(args, a, b)
}

function payProduct(args: Arguments, a: Numeric, b: Numeric, operation: 'Mul' | 'Div'): void {
  args.charge(productPrice(mantissa(a), mantissa(b)), ofIntegers(operation, mantissa(a), mantissa(b)))
  workProduct(args, a, b)
}

/** Fields of the left object take precedence. */
function join(args: Arguments, left: ObjectValue, right: ObjectValue): ObjectValue {
  args.charge(PRICE.item * (left.size + right.size), ofObject(left.size + right.size))
  args.workList(left.size + right.size)
  const fields = new Map<string, Value>(left)
  for (const [key, value] of right) if (!left.has(key)) fields.set(key, value)
  return fields
}

function negate(args: Arguments): Term {
  const a = args.number(0)
  return typeof a === 'bigint' ? -a : a.negate()
}

function subtract(args: Arguments): Term {
  if (!args.has(1)) return negate(args)
  paySum(args, 'Sub')
  return combine(
    args,
    (a, b) => a - b,
    (a, b) => a.sub(b),
  )
}

function multiply(args: Arguments): Term {
  payProduct(args, args.number(0), args.number(1), 'Mul')
  return combine(
    args,
    (a, b) => a * b,
    (a, b) => a.mul(b),
  )
}

function divide(args: Arguments): Term {
  const [a, b] = [args.number(0), args.number(1)]
  if (sign(b) === 0) throw args.error('Arithmetic exception: div by zero')
  payProduct(args, a, b, 'Div')
  return combine(args, floorDivide, (x, y) => x.div(y))
}

function modulus(args: Arguments): Term {
  const [a, b] = [args.integer(0), args.integer(1)]
  if (b === 0n) throw args.error('Arithmetic exception: Modulus by zero')
  workProduct(args, a, b)
  return a - b * floorDivide(a, b)
}

function power(args: Arguments): Term {
  const [a, b] = [args.number(0), args.number(1)]
  const [base, exponent] = [nextInteger(a), nextInteger(b)]
  args.charge(powerPrice(base, exponent), ofIntegers('Pow', base, exponent))
  if (typeof a === 'bigint' && typeof b === 'bigint') return integerPower(args, a, b)
  return withinBits(args, decimalPower(args, toDecimal(a), toDecimal(b)))
}

function squareRoot(args: Arguments): Term {
  const a = args.number(0)
  if (sign(a) < 0) throw args.error('Arithmetic exception: Square root must be non-negative')
  args.charge(squareRootPrice(mantissa(a)), () => `GTranscendental (TransSqrt ${shownNumber(mantissa(a))})`)
  return byDoubles(args, () => Math.sqrt(toDouble(a)))
}

function naturalLogarithm(args: Arguments): Term {
  const a = args.number(0)
  if (sign(a) <= 0) throw args.error('Arithmetic exception: Non-positive log argument')
  args.charge(logarithmPrice(nextInteger(a)), () => `GTranscendental (TransLn ${shownNumber(nextInteger(a))})`)
  return byDoubles(args, () => naturalLog(a))
}

/** Logarithm of the second argument to the base of the first. Two integers give the nearest integer. */
function logarithm(args: Arguments): Term {
  const [base, a] = [args.number(0), args.number(1)]
  if (sign(base) < 0) throw args.error('Arithmetic exception: Negative log base')
  if (sign(a) <= 0) throw args.error('Arithmetic exception: Non-positive log argument')
  const integers = [nextInteger(base), nextInteger(a)]
  const price = logarithmPrice(integers[0]) + logarithmPrice(integers[1])
  args.charge(price, () => `GTranscendental (TransLogBase ${integers.map(shownNumber).join(' ')})`)
  const result = finite(args, () => naturalLog(a) / naturalLog(base))
  const exact = Decimal.fromNumberExact(result)
  return typeof base === 'bigint' && typeof a === 'bigint' ? exact.round(0).mantissa : exact
}

/** `round`, `floor` or `ceiling`: to an integer, or to a number of decimal places. */
function rounding(name: 'round' | 'floor' | 'ceiling'): Native {
  return native(name, 1, 2, (args) => {
    const a = args.number(0)
    if (typeof a === 'bigint') throw args.typeError()
    if (!args.has(1)) return a[name](0).mantissa
    // The network keeps the number of places in a byte, and fills places that are missing with zeros.
    return a[name](Number(BigInt.asUintN(8, args.integer(1))))
  })
}

function bitwise(name: string, combine: (a: bigint, b: bigint) => bigint): Native {
  return native(name, 2, 2, (args) => {
    const [a, b] = [args.integer(0), args.integer(1)]
    workSum(args, a, b)
    return combine(a, b)
  })
}

export const ARITHMETIC: readonly Native[] = [
  native('+', 2, 2, add),
  native('-', 1, 2, subtract, 2),
  native('negate', 1, 1, negate),
  native('*', 2, 2, multiply),
  native('/', 2, 2, divide),
  native('mod', 2, 2, modulus),
  native('^', 2, 2, power),
  native('abs', 1, 1, (args) => (mantissa(args.number(0)) < 0n ? negate(args) : args.number(0))),
  native('dec', 1, 1, (args) => Decimal.of(args.integer(0))),
  rounding('round'),
  rounding('floor'),
  rounding('ceiling'),
  native('sqrt', 1, 1, squareRoot),
  native('ln', 1, 1, naturalLogarithm),
  native('log', 2, 2, logarithm),
  native('exp', 1, 1, (args) => {
    const a = args.number(0)
    args.charge(exponentialPrice(mantissa(a)), () => `GTranscendental (TransExp ${shownNumber(mantissa(a))})`)
    return byDoubles(args, () => Math.exp(toDouble(a)))
  }),
  bitwise('&', (a, b) => a & b),
  bitwise('|', (a, b) => a | b),
  bitwise('xor', (a, b) => a ^ b),
  native('~', 1, 1, (args) => {
    args.work(integerCost(bitLength(args.integer(0))))
    return ~args.integer(0)
  }),
  native('shift', 2, 2, (args) => shift(args, args.integer(0), args.integer(1))),
]
