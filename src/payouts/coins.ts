/** Amounts of coins as whole numbers of 10^-12, the smallest amount that the coin contract moves. */

/** Places behind the point. */
const PLACES = 12
/** One coin. */
export const COIN = 10n ** BigInt(PLACES)
const TEXT = /^(\d{1,30})(?:\.(\d{1,30}))?$/

/** The amount of a decimal number such as `1.5`. null: no such number, or more than 12 places. */
export function unitsOf(text: string): bigint | null {
  const [, whole, fraction = ''] = TEXT.exec(text) ?? []
  if (whole === undefined) return null
  const places = fraction.replace(/0+$/, '')
  return places.length > PLACES ? null : BigInt(whole) * COIN + BigInt(places.padEnd(PLACES, '0'))
}

/** The decimal number of an amount, with a point: `1.5`, `2.0`, `-0.000000000001`. */
export function coinsText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${fraction === '' ? '0' : fraction}`
}

/** An exact fraction: `numerator / denominator`. */
export interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** A decimal number without sign, exact. null: no such number. */
export function fractionOf(text: string): Fraction | null {
  const [, whole, fraction = ''] = TEXT.exec(text) ?? []
  if (whole === undefined) return null
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}
