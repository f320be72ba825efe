/** Reads the rewards of our blocks from their payloads. */
import { decodeBase64Url } from '../base/bytes.ts'
import { NewcutError } from '../base/errors.ts'
import { feesOf } from '../core/block-fees.ts'
import { type PaymentModel, paymentIn } from '../core/coinbase.ts'
import type { MinerEvent, SolutionEvent } from '../mine/events.ts'
import type { NodeClient } from '../node/client.ts'

/** Accepted blocks in a row without a recognised payment, after which the user is told. */
const MAX_UNRECOGNISED = 3

export interface RewardsOptions {
  readonly client: Pick<NodeClient, 'payloadOutputs'>
  /** How the coinbases of the network show what they pay. */
  readonly payment: PaymentModel
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
  const { client, payment, onReward, onUnrecognised, stopped, onFault } = options
  /** Hashes whose reward is unknown, without a request under way. */
  const unpaid = new Set(options.unpaid)
  let unrecognised = 0
  const ask = async ({ chain, height, hash, payload }: SolutionEvent) => {
    try {
      const { coinbase, transactions } = await client.payloadOutputs(chain, payload, { height, signal: stopped })
      const amount = paymentIn(textOf(coinbase), payment)?.amount ?? null
      unrecognised = amount === null ? unrecognised + 1 : 0
      if (unrecognised === MAX_UNRECOGNISED) onUnrecognised(unrecognised)
      const fees = feesOf(transactions.map(([transaction, output]) => [textOf(transaction), textOf(output)]))
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
