/** Reads the amount and the recipient of a block's coinbase. */
import { isAmount } from '../base/coins.ts'
import { type ExactJson, fieldOf, isJsonObject, NumberText, parseExactJson, tryParse } from '../base/json.ts'

/** Reward of a block. */
export interface CoinbasePayment {
  /** Account of the miner, or null if the block does not name it. */
  readonly account: string | null
  /** Coins, as a decimal number. */
  readonly amount: string
}

/** Code whose value is the reward of a block in coins, such as `(at 0 (coin.URC_Emissions))`. */
export interface RewardCall {
  readonly code: string
  /** Chain on which it runs. Default: that of the block. */
  readonly chain?: number
}

/**
 * How the reward of a block is known. `event`: a TRANSFER event from an empty sender. `result`: the text of the result
 * begins with this pattern, in which `{amount}` stands for the coins and `{account}` for the miner. `table`: by the
 * height, as Kadena's table has it. `call`: a node runs this code at the block. `result`, `table` and `call` give way to
 * an event, because a contract may change.
 */
export type PaymentModel =
  | { readonly model: 'event' }
  | { readonly model: 'table' }
  | { readonly model: 'result'; readonly pattern: string }
  | { readonly model: 'call'; readonly call: RewardCall }

/** How the reward of future blocks is known: by Kadena's table, by code that a node runs, or not at all. */
export type RewardForecast =
  | { readonly model: 'table' }
  | { readonly model: 'none' }
  | { readonly model: 'call'; readonly call: RewardCall }

/** Capabilities of the coin contract that nodes grant to a coinbase. `DEBIT` is about the miner. */
export type CoinbaseGrant = 'COINBASE' | 'DEBIT'

/** How nodes run coinbases. */
export interface CoinbaseModel {
  readonly grants: readonly CoinbaseGrant[]
  /** Whether the result is what the contract returns, instead of the fixed text `Write succeeded`. */
  readonly isReturned: boolean
}

/**
 * Finds the payment in the output of a coinbase transaction.
 * @returns null if there is none, as in old blocks
 */
export function paymentIn(coinbase: string, payment: PaymentModel = { model: 'event' }): CoinbasePayment | null {
  const output = tryParse(coinbase, parseExactJson)
  const stated = payment.model === 'result' ? paymentInText(textOfResult(output), payment.pattern) : null
  if (stated !== null) return stated
  const events = isJsonObject(output) && Array.isArray(output.events) ? output.events : []
  for (const event of events) {
    if (!isJsonObject(event) || event.name !== 'TRANSFER' || !Array.isArray(event.params)) continue
    const [from, account, amount] = event.params
    if (from !== '') continue
    const coins = coinsIn(amount)
    return coins === null ? null : { account: typeof account === 'string' ? account : null, amount: coins }
  }
  return null
}

/** The text that a successful coinbase returns, or null. */
function textOfResult(output: ExactJson | undefined): string | null {
  const result = fieldOf(output, 'result')
  const data = fieldOf(result, 'data')
  return fieldOf(result, 'status') === 'success' && typeof data === 'string' ? data : null
}

function paymentInText(text: string | null, pattern: string): CoinbasePayment | null {
  const { account = null, amount } = (text === null ? null : patternOf(pattern).exec(text))?.groups ?? {}
  return amount !== undefined && isAmount(amount) ? { account, amount } : null
}

/**
 * The regular expression of a pattern: all but the two placeholders is literal text. An account may look like a payment.
 * It is as long as possible, so the amount after it counts.
 */
function patternOf(pattern: string): RegExp {
  const literal = pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const amount = literal.replace('\\{amount\\}', '(?<amount>\\d+(?:\\.\\d+)?)')
  return new RegExp(`^${amount.replace('\\{account\\}', '(?<account>.+)')}`, 'u')
}

/** Reads coins from a value of the contract language: a number, or an object of `decimal` or `int`. Null for all others. */
export function coinsIn(amount: ExactJson): string | null {
  const value = isJsonObject(amount) ? (amount.decimal ?? amount.int) : amount
  if (typeof value === 'object' && !(value instanceof NumberText)) return null
  const text = value instanceof NumberText ? value.text : String(value)
  return isAmount(text) ? text : null
}
