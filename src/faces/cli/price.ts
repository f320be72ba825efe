/** Kinds of option values for prices. */
import type { Price } from '#mining/mine/profit.ts'
import type { ValueKind } from './values.ts'

/** A decimal number, perhaps with an exponent, then a currency and perhaps a unit. */
const PRICE = /^(\d{1,15}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?)\s*([A-Za-z]{3,5})(?:\s*\/\s*([A-Za-z]+))?$/
const POWER_UNIT = 'kWh'

/** The price of a coin: `0.02USD`. */
export const coinPrice: ValueKind<Price> = priceKind(null, 'a price and its currency, such as 0.02USD')

/** The price of a kilowatt hour: `0.30USD/kWh`. */
export const powerPrice: ValueKind<Price> = priceKind(
  POWER_UNIT,
  'a price and its currency for a kilowatt hour, such as 0.30USD/kWh',
)

function priceKind(unit: string | null, expected: string): ValueKind<Price> {
  const suffix = unit === null ? '' : `/${unit}`
  return {
    expected,
    parse: (raw) => {
      const match = PRICE.exec(textOf(raw))
      if (match === null || !isUnit(match[3], unit)) return undefined
      return { amount: Number(match[1]), currency: match[2].toUpperCase() }
    },
    problem: (raw) => problemOf(textOf(raw), unit),
    format: ({ amount, currency }) => `${amount}${currency}${suffix}`,
  }
}

const textOf = (raw: unknown) => (typeof raw === 'string' || typeof raw === 'number' ? String(raw).trim() : '')
const isUnit = (given: string | undefined, unit: string | null) => given?.toLowerCase() === unit?.toLowerCase()

/** @returns the problem of a text that is not a price, or undefined if it does not resemble one */
function problemOf(text: string, unit: string | null): string | undefined {
  if (/^\s*[-\u2212]\s*[\d.]/.test(text)) return 'is negative'
  if (/^[\d.]+(?:[eE][+-]?\d+)?(?:\s*\/.*)?$/.test(text)) return 'has no currency'
  if (/^\d+,\d/.test(text)) return 'has a comma: write a point'
  if (/^[\p{Sc}]/u.test(text) || /^\d[\d.]*\s*\p{Sc}/u.test(text)) return 'has a currency sign: write its letters'
  if (/^[A-Za-z]{3,5}\s*[\d.]/.test(text)) return 'begins with the currency: the number comes first'
  const given = PRICE.exec(text)?.[3]
  if (PRICE.test(text) && !isUnit(given, unit)) {
    if (unit === null) return `is a price for each ${given}, and that of a coin is wanted`
    return given === undefined ? `has no unit: add /${unit}` : `is a price for each ${given}`
  }
  return /^[\d.]/.test(text) ? undefined : 'has no number'
}
