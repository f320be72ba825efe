/**
 * First follow-up of an acknowledged solution: a successful submission does not reveal its verdict (PROTOCOL.md A.2).
 * depths.ts follows it further.
 */
import type { FollowUp } from '#ground/chain/solution.ts'
import { type LookupOptions, lookUpBlock, type SolvedBlock } from './block-lookup.ts'

/** Pauses before each lookup, 20 s in all. A live node adds a solved block to its chain asynchronously. */
const FIRST_DELAYS_MS = [0, 50, 100, 200, 400, 800, 1500, ...Array.from({ length: 17 }, () => 1000)]
/** Pauses before later lookups, 2 hours in all, for a chain that does not advance or a node that is away. */
const LATER_DELAYS_MS = Array.from({ length: 3600 }, () => 2000)

interface FollowUpOptions extends LookupOptions {
  /** Required depth of a settled block; 1 is the head. */
  readonly confirmations: number
}

/**
 * Looks for the block until its fate is known, and yields it. Yields `unconfirmed` after 20 s, and then continues for 2
 * hours. After the signal aborts, looks once more. Never throws.
 */
export async function* followUp(
  block: SolvedBlock,
  options: FollowUpOptions,
  stopped: AbortSignal,
): AsyncGenerator<FollowUp, void, void> {
  for (const delaysMs of [FIRST_DELAYS_MS, LATER_DELAYS_MS]) {
    const { position: place, failure } = await lookUpBlock(block, options, delaysMs, stopped)
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
