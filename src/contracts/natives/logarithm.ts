/** Natural logarithm of numbers of any size. */
import { bitLength } from '../values/bits.ts'
import { Decimal } from '../values/decimal.ts'

/** Bits that are enough for the nearest double. */
const BITS = 64
/** Numbers below this length are doubles, with room for the places of a decimal. */
const DOUBLE_BITS = 1000

/** @param n a positive number, also one beyond all doubles */
export function naturalLog(n: bigint | Decimal): number {
  const mantissa = n instanceof Decimal ? n.mantissa : n
  const bits = bitLength(mantissa)
  if (bits < DOUBLE_BITS) return Math.log(n instanceof Decimal ? n.toNumber() : Number(n))
  const dropped = bits - BITS
  const places = n instanceof Decimal ? n.places : 0
  return Math.log(Number(mantissa >> BigInt(dropped))) + dropped * Math.LN2 - places * Math.LN10
}
