/** Fees that the transactions of a block pay to its miner (PROTOCOL.md E.4, Redeeming). */
import { exactText } from '../base/coin-sums.ts'
import { type ExactJson, fieldOf, NumberText, parseExactJson, tryParse } from '../base/json.ts'

/** Decimal places of a fee. */
const COIN_PLACES = 12
/** Places of the units that `exactText` formats. */
const UNIT_PLACES = 20
const DECIMAL = /^(\d{1,30})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/

/** A transaction and its output, both as JSON text. */
export type PaidTransaction = readonly [transaction: string, output: string]

/**
 * Sums the fees of transactions: the used gas times its price, rounded half to even at 12 places for each.
 * @returns coins as a decimal number, or null if a transaction or an output is unreadable
 */
export function feesOf(transactions: readonly PaidTransaction[]): string | null {
  let sum = 0n
  for (const pair of transactions) {
    const fee = feeOf(pair)
    if (fee === null) return null
    sum += fee
  }
  return exactText(sum * 10n ** BigInt(UNIT_PLACES - COIN_PLACES))
}

/** @returns units of 10^-12 coins, or null if a part is unreadable */
function feeOf([transaction, output]: PaidTransaction): bigint | null {
  const command = fieldOf(tryParse(transaction, parseExactJson), 'cmd')
  const price = fieldOf(
    fieldOf(tryParse(typeof command === 'string' ? command : '', parseExactJson), 'meta'),
    'gasPrice',
  )
  const gas = fieldOf(tryParse(output, parseExactJson), 'gas')
  const decimal = decimalOf(price)
  if (decimal === null || (typeof gas !== 'number' && typeof gas !== 'bigint') || gas < 0) return null
  const mantissa = decimal.mantissa * BigInt(gas)
  const places = decimal.places - COIN_PLACES
  return places <= 0 ? mantissa * 10n ** BigInt(-places) : roundedHalfEven(mantissa, 10n ** BigInt(places))
}

function roundedHalfEven(numerator: bigint, denominator: bigint): bigint {
  const [whole, rest] = [numerator / denominator, (numerator % denominator) * 2n]
  const isUp = rest > denominator || (rest === denominator && whole % 2n === 1n)
  return isUp ? whole + 1n : whole
}

/** A number as `mantissa` / 10^`places`. */
interface ExactDecimal {
  readonly mantissa: bigint
  readonly places: number
}

function decimalOf(value: ExactJson | undefined): ExactDecimal | null {
  const number = fieldOf(value, 'decimal') ?? fieldOf(value, 'int') ?? value
  const text = number instanceof NumberText ? number.text : String(number)
  const [, whole, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (whole === undefined) return null
  return { mantissa: BigInt(whole + fraction), places: fraction.length - Number(exponent) }
}
