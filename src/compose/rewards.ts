/** Reads the rewards of our blocks from their payloads. */

import type { NodeClient } from '#client/node/client.ts'
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { feesOf } from '#ground/chain/block-fees.ts'
import { paymentOf } from '#ground/chain/block-payment.ts'
import type { PaymentModel, RewardCall } from '#ground/chain/coinbase.ts'
import type { MinerEvent, SolutionEvent } from '#mining/mine/events.ts'

/** Accepted blocks in a row without a recognised payment, after which the user gets a warning. */
const MAX_UNRECOGNISED = 3

/** Runs code at a block. */
type BlockCall = (
  call: RewardCall,
  block: { readonly chain: number; readonly height: number },
  signal: AbortSignal,
) => Promise<string | null>

export interface RewardsOptions {
  readonly client: Pick<NodeClient, 'payloadOutputs'>
  /** How the reward of a block is known on the network. */
  readonly payment: PaymentModel
  /** Number of chains at a height. */
  readonly chainsAt: (height: number) => number
  /**
   * Coins of a block whose reward a call states; null if it states no amount.
   * @throws NewcutError
   */
  readonly call: BlockCall
  /** Hashes of confirmed blocks of earlier runs whose reward is unknown. */
  readonly unpaid: Iterable<string>
  readonly onReward: (reward: Extract<MinerEvent, { readonly type: 'reward' }>) => void
  /** Called when so many blocks in a row have no payment that the model recognises. */
  readonly onUnrecognised: (blocks: number) => void
  readonly stopped: AbortSignal
  /** Called with a bug: an error that the node did not cause. */
  readonly onFault: (error: unknown) => void
}

/**
 * Fetches the payload of each of our confirmed blocks and reports its reward. If the node does not answer, the request
 * is repeated when the block is confirmed at a greater depth.
 */
export function rewardsOf(options: RewardsOptions): (event: MinerEvent) => void {
  const { client, payment, chainsAt, call, onReward, onUnrecognised, stopped, onFault } = options
  /** Hashes whose reward is unknown, without a request in progress. */
  const unpaid = new Set(options.unpaid)
  let unrecognised = 0
  const ask = async ({ chain, height, hash, payload }: SolutionEvent) => {
    try {
      const outputs = await client.payloadOutputs(chain, payload, { height, signal: stopped })
      const callReward = (code: RewardCall) => call(code, { chain, height }, stopped)
      const paying = await paymentOf({ ...outputs, height, chains: chainsAt(height) }, payment, callReward)
      const amount = paying?.amount ?? null
      unrecognised = amount === null ? unrecognised + 1 : 0
      if (unrecognised === MAX_UNRECOGNISED) onUnrecognised(unrecognised)
      const fees = feesOf(outputs.transactions.map(([transaction, output]) => [textOf(transaction), textOf(output)]))
      const paid = { amount, ...(fees !== null && { fees }) }
      if (amount !== null && !stopped.aborted) onReward({ type: 'reward', chain, height, hash, ...paid, amount })
    } catch (error) {
      if (stopped.aborted) return
      if (!(error instanceof NewcutError)) throw error
      unpaid.add(hash)
    }
  }
  return (event) => {
    if (event.type !== 'solution' || event.step !== 'confirmed') return
    // Confirmations at greater depths repeat the event without a verdict.
    if (unpaid.delete(event.hash) || event.verdict === 'accepted') void ask(event).catch(onFault)
  }
}

const textOf = (encoded: string) => new TextDecoder().decode(decodeBase64Url(encoded))
