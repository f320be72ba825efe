/** The reward of a block, by the payment model of its network. */
import { decodeBase64Url } from '../base/bytes.ts'
import { COIN, coinsText } from '../base/coins.ts'
import { fieldOf, parseExactJson, tryParse } from '../base/json.ts'
import { type CoinbasePayment, type PaymentModel, paymentIn, type RewardCall } from './coinbase.ts'
import { expectedReward, LAST_ENTRY_HEIGHT, rewardUnitsAt } from './reward.ts'

/** A unit of the table in units of 10^-12 coins. */
const TABLE_UNIT = COIN / 100_000n

/** The data of a block that states its payment, or from which the payment follows. */
export interface PaidBlock {
  /** Output of the coinbase transaction: JSON in base64url, as payloads have it. */
  readonly coinbase: string
  /** Data of the miner: JSON in base64url, as payloads have it. */
  readonly minerData: string
  readonly height: number
  /** Number of chains of the network at that height. */
  readonly chains: number
}

/**
 * Finds the payment of a block.
 * @param call runs code on a node and returns coins, or null if the code returns no amount
 * @returns null if there is none
 * @throws errors of `call`
 */
export async function paymentOf(
  { coinbase: output, minerData, height, chains }: PaidBlock,
  payment: PaymentModel,
  call: (call: RewardCall) => Promise<string | null>,
): Promise<CoinbasePayment | null> {
  const coinbase = textOf(output)
  const stated = paymentIn(coinbase, payment)
  if (stated !== null || payment.model === 'event' || payment.model === 'result') return stated
  if (fieldOf(fieldOf(tryParse(coinbase, parseExactJson), 'result'), 'status') !== 'success') return null
  const amount = payment.model === 'table' ? tableReward(BigInt(height), chains) : await call(payment.call)
  const account = fieldOf(tryParse(textOf(minerData), parseExactJson), 'account')
  return amount === null ? null : { account: typeof account === 'string' ? account : null, amount }
}

/**
 * Reward of a block in coins by Kadena's table, as nodes round it: half to even, at 12 decimal places. Beyond height
 * 5,256,000 it is that of {@link expectedReward}.
 * @param chains number of chains of the network at that height
 * @throws RangeError for genesis blocks
 */
export function tableReward(height: bigint, chains: number): string {
  if (height > LAST_ENTRY_HEIGHT) return expectedReward(height, chains).toFixed(12)
  const [all, divisor] = [rewardUnitsAt(height) * TABLE_UNIT, BigInt(chains)]
  const [quotient, rest] = [all / divisor, 2n * (all % divisor)]
  return coinsText(rest > divisor || (rest === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient)
}

const textOf = (encoded: string) => new TextDecoder().decode(decodeBase64Url(encoded))
