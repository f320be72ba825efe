/** Exact arithmetic with coin amounts as decimal text. */

const PLACES = 12
const UNIT = 10n ** BigInt(PLACES)

/** Converts to the smallest unit, 10^-12 coins. */
function unitsOf(text: string): bigint {
  const [whole, fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole) * UNIT + BigInt(fraction.slice(0, PLACES).padEnd(PLACES, '0'))
  return text.startsWith('-') ? -units : units
}

/** Sums amounts. */
export function sumOf(amounts: readonly string[]): string {
  const sum = amounts.reduce((total, each) => total + unitsOf(each), 0n)
  const digits = (sum < 0n ? -sum : sum).toString().padStart(PLACES + 1, '0')
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`
}

/** `1,234,567.8901`: grouped digits without trailing zeros. */
export function tidyCoins(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  const rest = fraction.replace(/0+$/, '')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${rest === '' ? '' : `.${rest}`}`
}
