/** Fees that the transactions of a block pay to its miner (PROTOCOL.md E.4, Redeeming). */
import { COIN, exactOf, exactText, type Fraction, fractionOf } from '../base/coins.ts'
import { type ExactJson, fieldOf, NumberText, parseExactJson, tryParse } from '../base/json.ts'

const EXPONENT = /^[+-]?\d{1,2}$/

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
  return exactText(exactOf(sum))
}

/** @returns units (base/coins.ts), or null if a part is unreadable */
function feeOf([transaction, output]: PaidTransaction): bigint | null {
  const command = fieldOf(tryParse(transaction, parseExactJson), 'cmd')
  const price = fieldOf(
    fieldOf(tryParse(typeof command === 'string' ? command : '', parseExactJson), 'meta'),
    'gasPrice',
  )
  const gas = fieldOf(tryParse(output, parseExactJson), 'gas')
  const coins = numberIn(price)
  if (coins === null || (typeof gas !== 'number' && typeof gas !== 'bigint') || gas < 0) return null
  return roundedHalfEven(coins.numerator * BigInt(gas) * COIN, coins.denominator)
}

function roundedHalfEven(numerator: bigint, denominator: bigint): bigint {
  const [whole, rest] = [numerator / denominator, (numerator % denominator) * 2n]
  const isUp = rest > denominator || (rest === denominator && whole % 2n === 1n)
  return isUp ? whole + 1n : whole
}

function numberIn(value: ExactJson | undefined): Fraction | null {
  const number = fieldOf(value, 'decimal') ?? fieldOf(value, 'int') ?? value
  const text = number instanceof NumberText ? number.text : String(number)
  const [digits, exponent = '0', ...rest] = text.split(/e/i)
  const fraction = fractionOf(digits)
  if (fraction === null || rest.length > 0 || !EXPONENT.test(exponent)) return null
  const power = Number(exponent)
  return {
    numerator: fraction.numerator * 10n ** BigInt(Math.max(0, power)),
    denominator: fraction.denominator * 10n ** BigInt(Math.max(0, -power)),
  }
}
