/**
 * What became of a solution that a node acknowledged, at first: success of a submission does not say it
 * (PROTOCOL.md A.2). How it goes on is in depths.ts.
 */
import type { FollowUp } from '../../core/solution.ts'
import { type LookOptions, lookFor, type SolvedBlock } from './look.ts'

/** A live node adds a solved block to its chain asynchronously: pauses before each look for it, 20 s in all. */
const FIRST_DELAYS_MS = [0, 50, 100, 200, 400, 800, 1500, ...Array.from({ length: 17 }, () => 1000)]
/** Its chain may not move for long, or the node may be away: pauses before further looks, 2 hours in all. */
const LATER_DELAYS_MS = Array.from({ length: 3600 }, () => 2000)

export interface FollowUpOptions extends LookOptions {
  /** How deep a block has to lie before nobody looks any further; 1: the head. */
  readonly confirmations: number
}

/**
 * Looks for the block until its fate is known, and yields that. After 20 s without it `unconfirmed` is yielded, and the
 * search goes on for 2 hours. When the signal aborts it looks once and no more. Never throws.
 */
export async function* followUp(
  block: SolvedBlock,
  options: FollowUpOptions,
  stopped: AbortSignal,
): AsyncGenerator<FollowUp, void, void> {
  for (const delaysMs of [FIRST_DELAYS_MS, LATER_DELAYS_MS]) {
    const { place, failure } = await lookFor(block, options, delaysMs, stopped)
    if (place?.kind === 'on-chain') return yield { step: 'confirmed', depth: place.depth }
    if (place?.kind === 'orphaned' || place?.kind === 'passed') {
      const step = place.kind === 'orphaned' ? 'orphaned' : 'stale'
      return yield place.depth < options.confirmations ? { step, mayReturn: true } : { step }
    }
    if (delaysMs === LATER_DELAYS_MS) return
    const message = failure ?? 'its chain has neither the block nor another one there yet'
    yield { step: 'unconfirmed', message }
    if (stopped.aborted) return
  }
}
