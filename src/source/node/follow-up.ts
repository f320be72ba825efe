/** What became of a solution that a node acknowledged: success of a submission does not say it (PROTOCOL.md A.2). */
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import { NodeRefusal } from '../../node/errors.ts'
import type { FollowUp } from '../source.ts'
import type { SolvedBlock } from './hand-in.ts'
import type { MiningNode } from './mining-node.ts'

/** A live node adds a solved block to its chain asynchronously: pauses before each look for it. */
const LOOK_DELAYS_MS = [0, 50, 100, 200, 400, 800, 1600]

/** Looks for the block until its fate is known. When the signal aborts it looks once and no more. Never throws. */
export async function followUp(
  block: SolvedBlock,
  { node, clock }: { readonly node: MiningNode; readonly clock: Clock },
  stopped: AbortSignal,
): Promise<FollowUp> {
  // A signal of its own: one that many solutions listened to would warn of a leak.
  const signal = AbortSignal.any([stopped])
  let failure: string | null = 'nobody was asked'
  for (const delayMs of LOOK_DELAYS_MS) {
    if (delayMs > 0) await sleep(clock, delayMs, signal)
    try {
      const place = await node.placeOf(block)
      failure = null
      if (place.kind === 'on-chain') return { step: 'confirmed', depth: place.depth }
      if (place.kind === 'orphaned') return { step: 'orphaned' }
      if (place.kind === 'passed') return { step: 'stale' }
    } catch (error) {
      failure = describeError(error)
      if (error instanceof NodeRefusal && error.isNodesOwn) break
    }
    if (signal.aborted) return { step: 'lost', reason: 'stopped', message: 'the miner stopped before its chain had it' }
  }
  // The node took it, has had time, and its chain does not have it: it was dropped.
  return failure === null ? { step: 'stale' } : { step: 'lost', reason: 'unconfirmed', message: failure }
}
