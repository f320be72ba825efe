/** The record of a miner's solutions: the journal, and the rewards of its blocks. */
import type { MinerEvent } from '../mine/events.ts'
import type { Unfinished } from '../mine/life.ts'
import { systemClock } from '../platform/clock.ts'
import { isDevelopment } from './payee.ts'
import { rewardsOf } from './rewards.ts'
import type { RunEnd } from './run-end.ts'
import type { MinerSetup } from './setup.ts'
import type { ReachedSource } from './source/reached.ts'
import { type KeptState, openState } from './state.ts'

export interface Record {
  /** null: no journal is kept. */
  readonly state: KeptState | null
  /** Solutions of earlier runs that are not settled. */
  readonly unfinished: readonly Unfinished[]
  /** Writes what happens into the journal. */
  readonly onEvent: (event: MinerEvent) => void
  /** Asks what a block paid once it is confirmed. */
  readonly onConfirmed: (event: MinerEvent) => void
}

export interface RecordPorts {
  /** Told of trouble with the journal. */
  readonly onEvent: (event: MinerEvent) => void
  /** Told of rewards. */
  readonly show: (event: MinerEvent) => void
  readonly end: RunEnd
}

/** Throws NewcutError BAD_OPTION or BAD_INPUT where the journal is required and cannot be used. */
export async function openRecord(
  { source }: MinerSetup,
  { network, payee: account, node }: ReachedSource,
  { onEvent, show, end }: RecordPorts,
): Promise<Record> {
  // A pool follows the blocks of its shares itself.
  const setup = source.kind === 'pools' ? null : (source.state ?? null)
  const confirmations = ('confirmations' in source && source.confirmations) || 1
  // Development networks are thrown away; whoever wants theirs kept says so.
  const isKept = setup !== null && (setup.isRequired || !isDevelopment(network))
  const state = isKept ? await openState(setup, { network, account, confirmations, clock: systemClock, onEvent }) : null
  const rewards = node && {
    ...{ client: node.payloads, unpaid: state?.unpaid ?? [], onReward: show },
    ...{ stopped: end.stopped, onFault: end.fault },
  }
  return {
    state,
    unfinished: state?.unfinished ?? [],
    onEvent: state?.onEvent ?? (() => undefined),
    onConfirmed: rewards === null ? () => undefined : rewardsOf(rewards),
  }
}
