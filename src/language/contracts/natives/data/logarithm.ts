/** Natural logarithm of numbers of any size. */
import { bitLength } from '../../values/bits.ts'
import { Decimal } from '../../values/decimal.ts'

/** Bits that are enough for the nearest double. */
const BITS = 64
/** Numbers below this length are doubles. The whole part of a longer one has enough bits, whatever its places. */
const DOUBLE_BITS = 1000

/** ln 2 in two parts. The first has so few digits that its multiples by lengths of numbers are exact. */
const LN2_HIGH = 0.6931471803691238
const LN2_LOW = 1.9082149292705877e-10

/** @param n a positive number, also one beyond all doubles */
export function naturalLog(n: bigint | Decimal): number {
  const [mantissa, places] = n instanceof Decimal ? [n.mantissa, n.places] : [n, 0]
  if (bitLength(mantissa) < DOUBLE_BITS) return Math.log(n instanceof Decimal ? n.toNumber() : Number(n))
  const whole = mantissa / 10n ** BigInt(places)
  const dropped = bitLength(whole) - BITS
  const rest = Math.log(Number(whole >> BigInt(dropped))) + dropped * LN2_LOW
  return dropped * LN2_HIGH + rest
}
