/** What became of a solution that a node acknowledged: success of a submission does not say it (PROTOCOL.md A.2). */
import type { FollowUp } from '../source.ts'
import { type LookOptions, lookFor, type SolvedBlock } from './look.ts'

/** A live node adds a solved block to its chain asynchronously: pauses before each look for it, 20 s in all. */
const FIRST_DELAYS_MS = [0, 50, 100, 200, 400, 800, 1500, ...Array.from({ length: 17 }, () => 1000)]
/** Its chain may not move for long, or the node may be away: pauses before further looks, 2 hours in all. */
const LATER_DELAYS_MS = Array.from({ length: 3600 }, () => 2000)

/**
 * Looks for the block until its fate is known, and yields that. After 20 s without it `unconfirmed` is yielded, and the
 * search goes on for 2 hours. When the signal aborts it looks once and no more. Never throws.
 */
export async function* followUp(
  block: SolvedBlock,
  options: LookOptions,
  stopped: AbortSignal,
): AsyncGenerator<FollowUp, void, void> {
  for (const delaysMs of [FIRST_DELAYS_MS, LATER_DELAYS_MS]) {
    const { place, failure } = await lookFor(block, options, delaysMs, stopped)
    if (place?.kind === 'on-chain') return yield { step: 'confirmed', depth: place.depth }
    if (place?.kind === 'orphaned') return yield { step: 'orphaned' }
    if (place?.kind === 'passed') return yield { step: 'stale' }
    if (delaysMs === LATER_DELAYS_MS) return
    const message = failure ?? 'the node took it, but its chain has not moved on'
    yield { step: 'unconfirmed', message }
    if (stopped.aborted) return
  }
}
