/** Reads the amount and the recipient of a block's coinbase. */
import { isAmount } from '../base/coins.ts'
import { type ExactJson, isJsonObject, NumberText, parseExactJson, tryParse } from '../base/json.ts'

/** Reward of a block. */
export interface CoinbasePayment {
  /** Account of the miner, or null if the output does not name it. */
  readonly account: string | null
  /** Coins, as a decimal number. */
  readonly amount: string
}

/**
 * Finds the payment in the output of a coinbase transaction: its TRANSFER event from an empty sender.
 * @returns null if there is none, as in old blocks
 */
export function paymentIn(coinbase: string): CoinbasePayment | null {
  const output = tryParse(coinbase, parseExactJson)
  const events = isJsonObject(output) && Array.isArray(output.events) ? output.events : []
  for (const event of events) {
    if (!isJsonObject(event) || event.name !== 'TRANSFER' || !Array.isArray(event.params)) continue
    const [from, account, amount] = event.params
    if (from !== '') continue
    const coins = decimalOf(amount)
    return coins === null ? null : { account: typeof account === 'string' ? account : null, amount: coins }
  }
  return null
}

function decimalOf(amount: ExactJson): string | null {
  const value = isJsonObject(amount) ? (amount.decimal ?? amount.int) : amount
  if (typeof value === 'object' && !(value instanceof NumberText)) return null
  const text = value instanceof NumberText ? value.text : String(value)
  return isAmount(text) ? text : null
}
