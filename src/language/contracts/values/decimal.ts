/** Decimal numbers of the contract language: an integer mantissa and the number of decimal places. */

import { bitLength } from './bits.ts'

/** Maximum number of decimal places. */
export const MAX_PLACES = 255
/** Largest exponent that `parse` accepts (`1e1000`). A larger one would let a short text fill the memory. */
const MAX_EXPONENT = 1000n
const TEXT = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Numbers of zeros to strip: they add up to any number of places. */
const HALVES = [128, 64, 32, 16, 8, 4, 2, 1] as const
const WORD = 64
/** A number of more bits before the point is infinite as a double. */
const DOUBLE_BITS = 1025

const POWERS: bigint[] = []
/** 10^n, cached below n = 1024. */
function tenTo(n: number): bigint {
  if (n >= 1024) return 10n ** BigInt(n)
  POWERS[n] ??= 10n ** BigInt(n)
  return POWERS[n]
}

/** Divides by a positive number, rounding towards minus infinity. */
function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a < 0n && quotient * b !== a ? quotient - 1n : quotient
}

/** Divides by a positive number, rounding half to even. */
function roundDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  const rest = 2n * (a - quotient * b)
  const away = rest < 0n ? -1n : 1n
  const twice = rest * away
  return twice > b || (twice === b && BigInt.asUintN(1, quotient) === 1n) ? quotient + away : quotient
}

type Divide = (a: bigint, b: bigint) => bigint

/** The number `mantissa / 10^places`. Places stay as written or computed: `1.50` prints two places but equals `1.5`. */
export class Decimal {
  readonly mantissa: bigint
  readonly places: number

  /** @throws RangeError unless places is an integer from 0 to 255 */
  constructor(mantissa: bigint, places: number) {
    if (!Number.isInteger(places) || places < 0 || places > MAX_PLACES) throw new RangeError(`${places} decimal places`)
    this.mantissa = mantissa
    this.places = places
  }

  /** Converts an integer. */
  static of(integer: bigint): Decimal {
    return new Decimal(integer, 0)
  }

  /**
   * Parses `-12.50` or `1e-8`.
   * @returns null if the text is not a number, its exponent exceeds 1000 or it has more than 255 places
   */
  static parse(text: string): Decimal | null {
    const match = TEXT.exec(text)
    if (match === null) return null
    const [, sign, whole, fraction = '', power = '0'] = match
    const exponent = BigInt(power)
    if (exponent > MAX_EXPONENT || exponent < -MAX_EXPONENT) return null
    const digits = BigInt(whole + fraction)
    const mantissa = sign === '-' ? -digits : digits
    const places = fraction.length - Number(exponent)
    if (places > MAX_PLACES) return null
    return places < 0 ? new Decimal(mantissa * tenTo(-places), 0) : new Decimal(mantissa, places)
  }

  /**
   * Exact value of a double, rounded to 255 places if it has more.
   * @throws RangeError for NaN and infinities
   */
  static fromNumberExact(value: number): Decimal {
    if (!Number.isFinite(value)) throw new RangeError(`${value} is not a number`)
    let [numerator, halvings] = [value, 0]
    while (!Number.isInteger(numerator)) {
      // Doubling is exact, even for subnormal numbers.
      numerator *= 2
      halvings++
    }
    return Decimal.ratio(BigInt(numerator), 1n << BigInt(halvings))
  }

  /** `a / b` for positive `b`, rounded to 255 places and normalised. */
  private static ratio(a: bigint, b: bigint): Decimal {
    return new Decimal(roundDivide(a * tenTo(MAX_PLACES), b), MAX_PLACES).normalise()
  }

  /** All digits and places: `1.50`, `-0.3`, `100`. */
  toString(): string {
    const digits = (this.mantissa < 0n ? -this.mantissa : this.mantissa).toString().padStart(this.places + 1, '0')
    const sign = this.mantissa < 0n ? '-' : ''
    if (this.places === 0) return sign + digits
    const point = digits.length - this.places
    return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
  }

  /** Source form: an integral value ends in `.0`, others keep their places. */
  toSource(): string {
    return this.isWhole() ? `${this.mantissa / tenTo(this.places)}.0` : this.toString()
  }

  /** Removes trailing zeros: `1.50` -> `1.5`, `100.0` -> `100`. */
  normalise(): Decimal {
    if (this.places === 0 || this.mantissa % 10n !== 0n) return this
    if (this.mantissa === 0n) return ZERO
    let { mantissa, places } = this
    for (const step of [places, ...HALVES]) {
      // A multiple of 10^n is one of 2^n, which the last bits show.
      if (step > places || step === 0 || BigInt.asUintN(Math.min(step, WORD), mantissa) !== 0n) continue
      const quotient = mantissa / tenTo(step)
      if (quotient * tenTo(step) !== mantissa) continue
      mantissa = quotient
      places -= step
    }
    return new Decimal(mantissa, places)
  }

  /** True if all decimal places are zero. */
  isWhole(): boolean {
    return this.places === 0 || this.mantissa % tenTo(this.places) === 0n
  }

  /** @returns a negative number, 0 or a positive number, as this is less than, equal to or greater than `other` */
  compare(other: Decimal): number {
    const places = Math.max(this.places, other.places)
    const [a, b] = [this.scaleTo(places), other.scaleTo(places)]
    return a < b ? -1 : a > b ? 1 : 0
  }

  /** Sum; has as many places as the operand with more places. */
  add(other: Decimal): Decimal {
    const places = Math.max(this.places, other.places)
    return new Decimal(this.scaleTo(places) + other.scaleTo(places), places)
  }

  /** Difference; has as many places as the operand with more places. */
  sub(other: Decimal): Decimal {
    return this.add(other.negate())
  }

  /** Product, normalised; beyond 255 places it is rounded half to even. */
  mul(other: Decimal): Decimal {
    const [mantissa, places] = [this.mantissa * other.mantissa, this.places + other.places]
    if (places <= MAX_PLACES) return new Decimal(mantissa, places).normalise()
    return new Decimal(roundDivide(mantissa, tenTo(places - MAX_PLACES)), MAX_PLACES).normalise()
  }

  /**
   * Quotient, rounded half to even at 255 places and normalised.
   * @throws RangeError if the divisor is zero
   */
  div(other: Decimal): Decimal {
    if (other.mantissa === 0n) throw new RangeError('division by zero')
    const [a, b] = [this.mantissa * tenTo(other.places), other.mantissa * tenTo(this.places)]
    // Whole quotients of small numbers are common, and their 255 zeros would be stripped again.
    if (BigInt.asIntN(64, b) === b && BigInt.asIntN(64, a) === a && a % b === 0n) return new Decimal(a / b, 0)
    return b < 0n ? Decimal.ratio(-a, -b) : Decimal.ratio(a, b)
  }

  /** The absolute value. */
  abs(): Decimal {
    return this.mantissa < 0n ? this.negate() : this
  }

  /** The value with the opposite sign. */
  negate(): Decimal {
    return new Decimal(-this.mantissa, this.places)
  }

  /** Rounds half to even. Extra places are filled with zeros. */
  round(places: number): Decimal {
    return this.roundTo(places, roundDivide)
  }

  /** Rounds towards minus infinity. */
  floor(places: number): Decimal {
    return this.roundTo(places, floorDivide)
  }

  /** Rounds towards plus infinity. */
  ceiling(places: number): Decimal {
    return this.roundTo(places, (a, b) => -floorDivide(-a, b))
  }

  /** Nearest double. */
  toNumber(): number {
    const bits = bitLength(this.mantissa) - bitLength(tenTo(this.places))
    if (bits > DOUBLE_BITS) return this.mantissa < 0n ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
    return Number(this.toString())
  }

  private roundTo(places: number, divide: Divide): Decimal {
    if (this.places === places) return this
    if (this.places < places) return new Decimal(this.scaleTo(places), places)
    return new Decimal(divide(this.mantissa, tenTo(this.places - places)), places)
  }

  private scaleTo(places: number): bigint {
    return places === this.places ? this.mantissa : this.mantissa * tenTo(places - this.places)
  }
}

const ZERO = new Decimal(0n, 0)
