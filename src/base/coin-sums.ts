/** Exact sums of coins. Amounts are decimal numbers in text, with up to 20 places. */

const PLACES = 20
const AMOUNT = /^(\d{1,20})(?:\.(\d{1,20}))?$/

/**
 * An amount in units of 10^-20 coins.
 * @throws RangeError if the text is no decimal number with up to 20 places
 */
export function exactUnits(amount: string): bigint {
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined) throw new RangeError(`${amount} is no amount of coins`)
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}

/** Formats units of 10^-20 coins without trailing zeros: `2.304523`, `3`. */
export function exactText(units: bigint): string {
  const digits = units.toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '')
  return digits.slice(0, -PLACES) + (fraction === '' ? '' : `.${fraction}`)
}

/** Sums amounts. */
export const exactSum = (amounts: readonly string[]): string =>
  exactText(amounts.reduce((sum, amount) => sum + exactUnits(amount), 0n))
