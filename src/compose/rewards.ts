/** What our blocks pay, as their payloads tell. */
import { decodeBase64Url } from '../core/bytes.ts'
import { paymentIn } from '../core/coinbase.ts'
import { NewcutError } from '../core/errors.ts'
import type { MinerEvent, SolutionEvent } from '../mine/events.ts'
import type { NodeClient } from '../node/client.ts'

export interface RewardsOptions {
  readonly client: Pick<NodeClient, 'payloadOutputs'>
  /** Hashes of confirmed blocks of earlier runs whose reward is not known. */
  readonly unpaid: Iterable<string>
  readonly onReward: (reward: Extract<MinerEvent, { readonly type: 'reward' }>) => void
  readonly stopped: AbortSignal
  /** Called with an error that is no failure of the node. */
  readonly onFault: (error: unknown) => void
}

/**
 * Asks for the payload of each block of ours once it is confirmed, and tells what the block paid. A node that does not
 * answer is asked again when the block lies deeper.
 */
export function rewardsOf(options: RewardsOptions): (event: MinerEvent) => void {
  const { client, onReward, stopped, onFault } = options
  /** Not known yet, and not asked for at present. */
  const unpaid = new Set(options.unpaid)
  const ask = async ({ chain, height, hash, payload }: SolutionEvent) => {
    try {
      const { coinbase } = await client.payloadOutputs(chain, payload, { height, signal: stopped })
      const amount = rewardIn(new TextDecoder().decode(decodeBase64Url(coinbase)))
      if (amount !== null && !stopped.aborted) onReward({ type: 'reward', chain, height, hash, amount })
    } catch (error) {
      if (stopped.aborted) return
      if (!(error instanceof NewcutError)) throw error
      unpaid.add(hash)
    }
  }
  return (event) => {
    if (event.type !== 'solution' || event.step !== 'confirmed') return
    // It is confirmed again at greater depths, without a verdict.
    if (unpaid.delete(event.hash) || event.verdict === 'accepted') void ask(event).catch(onFault)
  }
}

/**
 * Coins, as a decimal number, that the output of a coinbase transaction pays: its event TRANSFER from nobody. null for
 * outputs without one: those of old blocks.
 */
export const rewardIn = (coinbase: string): string | null => paymentIn(coinbase)?.amount ?? null
