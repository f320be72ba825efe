/** Records a miner's solutions in the journal and fetches the rewards of its blocks. */

import type { NodeClient } from '#client/node/client.ts'
import { graphAt } from '#ground/chain/network.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { Earnings, type OwnBlock, type OwnBlockSums } from '#mining/mine/earnings.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { UnfinishedSolution } from '#mining/mine/solution-steps.ts'
import { isDevelopment } from './payee.ts'
import { type RewardsOptions, rewardsOf } from './rewards.ts'
import type { RunEnd } from './run-end.ts'
import type { MinerSetup } from './setup.ts'
import type { ConnectedSource } from './source/connected-source.ts'
import type { OpenState } from './state.ts'

export interface MiningRecord {
  /** The journal, or null without one. */
  readonly state: OpenState | null
  /** Unsettled solutions of earlier runs. */
  readonly unfinished: readonly UnfinishedSolution[]
  /** Paid blocks, or null if the chain does not pay this miner. */
  readonly earnings: Earnings | null
  /** Writes the event to the journal. */
  readonly onEvent: (event: MinerEvent) => void
  /** Fetches the reward of a block once it is confirmed. */
  readonly onConfirmed: (event: MinerEvent) => void
}

interface RecordPorts {
  /** Receives problems with the journal. */
  readonly onEvent: (event: MinerEvent) => void
  /** Receives rewards. */
  readonly show: (event: MinerEvent) => void
  readonly end: RunEnd
}

/**
 * Opens the record.
 * @throws NewcutError BAD_OPTION or BAD_INPUT if the journal is required and unusable
 */
export async function openRecord(
  { source }: MinerSetup,
  { network, payee: account, node }: ConnectedSource,
  { onEvent, show, end }: RecordPorts,
): Promise<MiningRecord> {
  // A pool follows the blocks of its shares itself.
  const setup = source.kind === 'pools' ? null : (source.state ?? null)
  const confirmations = ('confirmations' in source && source.confirmations) || 1
  // Development networks are temporary, so their journal is opt-in.
  const isKept = setup !== null && (setup.isRequired || !isDevelopment(network))
  const earnings = node && new Earnings()
  const seeding = {
    onEarlier: (block: OwnBlock) => earnings?.seed(block),
    onEarlierSums: (sums: OwnBlockSums) => earnings?.seedSums(sums),
  }
  const options = { network, account, confirmations, clock: systemClock, onEvent, ...seeding }
  // Loads the reader of the journal: 15 modules.
  const state = isKept ? await (await import('./state.ts')).openState(setup, options) : null
  const rewards = node && {
    client: node.payloads,
    unpaid: state?.unpaid ?? [],
    ...payingOf(node.client),
    onReward: show,
    onUnrecognised: (blocks: number) => show(unknownPaymentEvent(blocks, network)),
    stopped: end.stopped,
    onFault: end.fault,
  }
  return {
    state,
    unfinished: state?.unfinished ?? [],
    earnings,
    onEvent: (event) => {
      state?.onEvent(event)
      earnings?.onEvent(event)
    },
    onConfirmed: rewards === null ? () => undefined : rewardsOf(rewards),
  }
}

/** How the network of a node pays. Calls load their part of the wallet at the first of them. */
function payingOf(client: NodeClient): Pick<RewardsOptions, 'payment' | 'chainsAt' | 'call'> {
  const { network } = client.network
  return {
    payment: network.payment,
    chainsAt: (height) => graphAt(network, height).adjacents.length,
    call: async (call, block, signal) => {
      const { fetchReward } = await import('#client/wallet/reward.ts')
      return await fetchReward(client, call, block, { signal })
    },
  }
}

/** Names the setting that says how a network pays. */
function unknownPaymentEvent(blocks: number, network: string): MinerEvent {
  const setting = 'coin.payment in a `network-file` says how it pays'
  return {
    type: 'trouble',
    message: `${blocks} blocks in a row have no payment that newcut knows on ${network}: ${setting}`,
  }
}
