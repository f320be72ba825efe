/** Amounts of coins for people. */

/** `1,234,567.8901`: grouped digits without trailing zeros. */
export function tidyCoins(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  const rest = fraction.replace(/0+$/, '')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${rest === '' ? '' : `.${rest}`}`
}
