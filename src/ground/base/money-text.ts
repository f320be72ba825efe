/** Formats money and coins for people. */

/** Below, a decimal number would be a row of zeros. */
const LEAST_DECIMAL = 1e-9
/** From here, people read groups of three digits more easily. */
const GROUPED_FROM = 10_000
/** From here, two decimals are as people write money. */
const LEAST_USUAL = 0.1
const SMALL_DIGITS = 2
const LARGE_DIGITS = 4

/** At most two decimals, or two digits below 1: `1.08`, `90`, `0.012`, `0.00007`, `1,350,000`, `3.2e-15`. */
export function amountText(amount: number): string {
  if (amount < 0) return `-${amountText(-amount)}`
  if (amount === 0) return '0'
  if (amount < LEAST_DECIMAL) return amount.toExponential(1)
  if (amount < 1) return withoutZeros(amount.toFixed(SMALL_DIGITS - 1 - Math.floor(Math.log10(amount))))
  if (amount < GROUPED_FROM) return withoutZeros(amount.toFixed(2))
  return Number(amount.toPrecision(LARGE_DIGITS)).toLocaleString('en')
}

/** `1.08 USD`, `0.70 USD`, `90 USD`. A fraction of 0.1 or more has two decimals. */
export function moneyText(amount: number, currency: string): string {
  if (amount < 0) return `-${moneyText(-amount, currency)}`
  const isUsual = amount >= LEAST_USUAL && amount < GROUPED_FROM && amountText(amount).includes('.')
  return `${isUsual ? amount.toFixed(2) : amountText(amount)} ${currency}`
}

const withoutZeros = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
