/** What became of a solution that a node acknowledged: success of a submission does not say it (PROTOCOL.md A.2). */
import type { Clock } from '../../core/clock.ts'
import type { FollowUp } from '../source.ts'
import { lookFor, type SolvedBlock } from './look.ts'
import type { MiningNode } from './mining-node.ts'

/** A live node adds a solved block to its chain asynchronously: pauses before each look for it, 20 s in all. */
const LOOK_DELAYS_MS = [0, 50, 100, 200, 400, 800, 1600, 3000, 4000, 5000, 5000]

/** Looks for the block until its fate is known. When the signal aborts it looks once and no more. Never throws. */
export async function followUp(
  block: SolvedBlock,
  options: { readonly node: MiningNode; readonly clock: Clock },
  stopped: AbortSignal,
): Promise<FollowUp> {
  const { place, failure } = await lookFor(block, options, LOOK_DELAYS_MS, stopped)
  if (place?.kind === 'on-chain') return { step: 'confirmed', depth: place.depth }
  if (place?.kind === 'orphaned') return { step: 'orphaned' }
  if (place?.kind === 'passed') return { step: 'stale' }
  if (stopped.aborted) return { step: 'lost', reason: 'stopped', message: 'the miner stopped before its chain had it' }
  const message = failure ?? 'the node took it, but its chain has not moved on'
  return { step: 'lost', reason: 'unconfirmed', message }
}
