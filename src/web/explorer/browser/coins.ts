/** Amounts of coins as text of digits: exact, whatever their size. */

const PLACES = 12
const UNIT = 10n ** BigInt(PLACES)

/** In the smallest unit, of which a coin has 10^12. */
function unitsOf(text: string): bigint {
  const [whole, fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole) * UNIT + BigInt(fraction.slice(0, PLACES).padEnd(PLACES, '0'))
  return text.startsWith('-') ? -units : units
}

/** The sum of amounts, as text. */
export function sumOf(amounts: readonly string[]): string {
  const sum = amounts.reduce((total, each) => total + unitsOf(each), 0n)
  const digits = (sum < 0n ? -sum : sum).toString().padStart(PLACES + 1, '0')
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`
}

/** `1,234,567.8901`: whole coins in groups, and no zeros at the end. */
export function tidyCoins(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  const rest = fraction.replace(/0+$/, '')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${rest === '' ? '' : `.${rest}`}`
}
