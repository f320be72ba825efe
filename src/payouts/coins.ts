/** Coin amounts as whole numbers of 10^-12 coins, the smallest amount that the coin contract moves. */

/** Decimal places of an amount. */
const PLACES = 12
/** One coin. */
export const COIN = 10n ** BigInt(PLACES)
const TEXT = /^(\d{1,30})(?:\.(\d{1,30}))?$/

/**
 * Parses a decimal number such as `1.5`.
 * @returns the amount, or null if the text is no such number or has more than 12 places
 */
export function unitsOf(text: string): bigint | null {
  const [, whole, fraction = ''] = TEXT.exec(text) ?? []
  if (whole === undefined) return null
  const places = fraction.replace(/0+$/, '')
  return places.length > PLACES ? null : BigInt(whole) * COIN + BigInt(places.padEnd(PLACES, '0'))
}

/** Formats an amount as a decimal number with a point: `1.5`, `2.0`, `-0.000000000001`. */
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

/**
 * Parses a decimal number without a sign, exactly.
 * @returns null if the text is no such number
 */
export function fractionOf(text: string): Fraction | null {
  const [, whole, fraction = ''] = TEXT.exec(text) ?? []
  if (whole === undefined) return null
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}
