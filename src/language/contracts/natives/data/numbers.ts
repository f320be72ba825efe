/** Arithmetic operations that count their work by size first and refuse results that are too large. */

import { ofIntegers } from '../../machine/gas/cost-names.ts'
import { COST, exactBits, growthCost, integerCost, LIMIT, productCost } from '../../machine/gas/costs.ts'
import { shiftPrice } from '../../machine/gas/prices.ts'
import type { Arguments } from '../../machine/native.ts'
import { bitLength } from '../../values/bits.ts'
import { Decimal, MAX_PLACES } from '../../values/decimal.ts'

export type Numeric = bigint | Decimal

export function toDecimal(n: Numeric): Decimal {
  return n instanceof Decimal ? n : Decimal.of(n)
}

export function mantissa(n: Numeric): bigint {
  return n instanceof Decimal ? n.mantissa : n
}

/** The next integer above, by which the network sets the price of powers and logarithms. */
export function nextInteger(n: Numeric): bigint {
  return n instanceof Decimal ? n.ceiling(0).mantissa : n
}

export function sign(n: Numeric): number {
  const m = mantissa(n)
  return m < 0n ? -1 : m > 0n ? 1 : 0
}

function largerBits(a: Numeric, b: Numeric): number {
  return Math.max(bitLength(mantissa(a)), bitLength(mantissa(b)))
}

export function workSum(args: Arguments, a: Numeric, b: Numeric): void {
  args.work(integerCost(largerBits(a, b)))
}

export function workProduct(args: Arguments, a: Numeric, b: Numeric): void {
  args.work(productCost(largerBits(a, b)))
}

/**
 * @returns the number itself
 * @throws EvalError if it exceeds the maximum size
 */
export function withinBits<N extends Numeric>(args: Arguments, n: N): N {
  if (bitLength(mantissa(n)) > LIMIT.bits) throw tooLarge(args)
  return n
}

function tooLarge(args: Arguments): Error {
  return args.error(`Arithmetic exception: number too large, more than ${LIMIT.bits} bits`)
}

/** Integer division, rounded towards minus infinity. The divisor must not be 0. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

/**
 * Integer power.
 * @throws EvalError if the exponent is negative or the result too large
 */
export function integerPower(args: Arguments, base: bigint, exponent: bigint): bigint {
  if (exponent < 0n) throw args.error('Arithmetic exception: Integral power must be >= 0')
  if (exponent === 0n) return 1n
  if (base === 0n || base === 1n) return base
  if (base === -1n) return exponent % 2n === 0n ? 1n : -1n
  const bits = exactBits(base) * Number(exponent)
  if (!(bits <= LIMIT.bits)) throw tooLarge(args)
  args.work(growthCost(Math.ceil(bits)))
  return withinBits(args, base ** exponent)
}

/**
 * Exact if the exponent is a non-negative integer and the result has at most 255 places; otherwise computed with
 * doubles.
 */
export function decimalPower(args: Arguments, a: Decimal, b: Decimal): Decimal {
  if (b.mantissa === 0n) return Decimal.of(1n)
  const exponent = b.normalise()
  const isWhole = exponent.places === 0 && exponent.mantissa >= 0n
  const base = isWhole ? a.normalise() : a
  if (isWhole && BigInt(base.places) * exponent.mantissa <= MAX_PLACES) {
    const places = base.places * Number(exponent.mantissa)
    return new Decimal(integerPower(args, base.mantissa, exponent.mantissa), base.places === 0 ? 0 : places)
  }
  return byDoubles(args, () => toDouble(base) ** toDouble(exponent))
}

/** Computes with doubles and keeps all digits of the result. */
export function byDoubles(args: Arguments, compute: () => number): Decimal {
  return Decimal.fromNumberExact(finite(args, compute))
}

/** @throws EvalError if the result is infinite or NaN */
export function finite(args: Arguments, compute: () => number): number {
  args.work(COST.transcendental)
  const result = compute()
  if (!Number.isFinite(result)) {
    throw args.error('Floating point error: Floating operation resulted in Infinity or NaN')
  }
  return result
}

export function toDouble(n: Numeric): number {
  return n instanceof Decimal ? n.toNumber() : Number(n)
}

/**
 * Shifts left for positive counts, right (rounding towards minus infinity) for negative ones.
 * @throws EvalError if the result would have too many bits
 */
export function shift(args: Arguments, n: bigint, count: bigint): bigint {
  const bits = bitLength(n)
  args.charge(shiftPrice(n, count), ofIntegers('Shift', n, count))
  if (count <= 0n) {
    args.work(integerCost(bits))
    return -count > BigInt(bits) ? (n < 0n ? -1n : 0n) : n >> -count
  }
  if (n === 0n) return 0n
  if (count + BigInt(bits) > BigInt(LIMIT.bits)) throw tooLarge(args)
  args.work(growthCost(bits + Number(count)))
  return n << count
}
