/**
 * Amounts of coins: decimal numbers as text, whole numbers to calculate with.
 *
 * A unit is 10^-12 coins, the smallest amount that the coin contract moves. Rewards and fees are read from blocks and may
 * have more places, so their sums count exact units, which are 10^-20 coins.
 */

/** Decimal places of a unit. */
const PLACES = 12
/** Decimal places of an exact unit. */
const EXACT_PLACES = 20
/** One coin. */
export const COIN = 10n ** BigInt(PLACES)
const EXACT_PER_UNIT = 10n ** BigInt(EXACT_PLACES - PLACES)

/** Pattern of an amount in blocks and in the journal. */
export const AMOUNT = String.raw`^\d{1,20}(\.\d{1,20})?$`
const amount = new RegExp(AMOUNT)
const DECIMAL = /^(\d{1,30})(?:\.(\d{1,60}))?$/

/** An exact fraction: `numerator / denominator`. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/**
 * Parses a decimal number without a sign, exactly.
 * @returns null if the text is not such a number
 */
export function fractionOf(text: string): Fraction | null {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  if (whole === undefined) return null
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}

/** Whether a text is a decimal number without a sign, with up to 20 digits and 20 places. */
export const isAmount = (text: string): boolean => amount.test(text)

/**
 * Parses an amount such as `1.5`.
 * @returns units, or null if the text is not such a number, or has more than 12 places
 */
export function unitsOf(text: string): bigint | null {
  return scaleExactly(text, COIN)
}

/** Formats units as a decimal number with a point: `1.5`, `2.0`, `-0.000000000001`. */
export function coinsText(units: bigint): string {
  const { whole, fraction } = digitsOf(units < 0n ? -units : units, PLACES)
  return `${units < 0n ? '-' : ''}${whole}.${fraction === '' ? '0' : fraction}`
}

/** Converts units to exact units. */
export const exactOf = (units: bigint): bigint => units * EXACT_PER_UNIT

/**
 * Parses an amount from a block or the journal.
 * @returns exact units
 * @throws RangeError if the text is not an amount
 */
export function exactUnits(text: string): bigint {
  const units = isAmount(text) ? scaleExactly(text, COIN * EXACT_PER_UNIT) : null
  if (units === null) throw new RangeError(`${text} is not an amount of coins`)
  return units
}

/** Formats exact units without trailing zeros: `2.304523`, `3`. */
export function exactText(units: bigint): string {
  const { whole, fraction } = digitsOf(units, EXACT_PLACES)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/**
 * Sums amounts.
 * @throws RangeError if a text is not an amount
 */
export const exactSum = (amounts: readonly string[]): string =>
  exactText(amounts.reduce((sum, each) => sum + exactUnits(each), 0n))

/** @returns the number times `scale`, or null if the text is not a number or the product has a fraction */
function scaleExactly(text: string, scale: bigint): bigint | null {
  const number = fractionOf(text)
  if (number === null || (number.numerator * scale) % number.denominator !== 0n) return null
  return (number.numerator * scale) / number.denominator
}

function digitsOf(units: bigint, places: number): { readonly whole: string; readonly fraction: string } {
  const digits = units.toString().padStart(places + 1, '0')
  return { whole: digits.slice(0, -places), fraction: digits.slice(-places).replace(/0+$/, '') }
}
