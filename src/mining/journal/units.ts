/** Units (base/coins.ts) as doubles, read in place from the lines of a journal: a million solutions take no big integers. */
import { AMOUNT_IN_LINE, NO_AMOUNT } from './record-table.ts'

const UNIT_DIGITS = 12
/** Whole numbers below this are exact doubles. */
const MAX_UNITS = 2 ** 53

/**
 * Reads the decimal number at this index.
 * @returns units, or AMOUNT_IN_LINE if the amount is too large or too fine for them
 */
export function unitsAt(text: string, from: number): number {
  let units = 0
  let at = from
  for (let digit = digitAt(text, at); digit >= 0; digit = digitAt(text, ++at)) units = 10 * units + digit
  let places = 0
  if (text.charCodeAt(at) === 0x2e) {
    for (let digit = digitAt(text, ++at); digit >= 0; digit = digitAt(text, ++at), places++) units = 10 * units + digit
  }
  if (places > UNIT_DIGITS) return AMOUNT_IN_LINE
  for (; places < UNIT_DIGITS; places++) units *= 10
  return units < MAX_UNITS ? units : AMOUNT_IN_LINE
}

/** An amount in units, or NO_AMOUNT or AMOUNT_IN_LINE. */
export const amountUnitsOf = (amount: string | undefined): number =>
  amount === undefined ? NO_AMOUNT : unitsAt(amount, 0)

/** The value of a digit; negative for other characters. */
export function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30
  return digit >= 0 && digit <= 9 ? digit : -1
}
