/** Looking for the block of a solution on the chains of a node. */
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError } from '../../core/errors.ts'
import { NodeRefusal } from '../../node/errors.ts'
import type { MiningNode, Place } from './mining-node.ts'

/** A block that a solution makes. */
export interface SolvedBlock {
  readonly bytes: Uint8Array
  readonly chain: number
  readonly height: number
  readonly hash: Uint8Array
}

/** The last answer, and what failed since, if the last look failed. */
export interface Look {
  readonly place: Place | null
  readonly failure: string | null
}

/**
 * Looks until the node knows the block or its chain has another at that height, with these pauses before each look.
 * When the signal aborts it looks once more. Never throws.
 */
export async function lookFor(
  block: SolvedBlock,
  { node, clock }: { readonly node: MiningNode; readonly clock: Clock },
  delaysMs: readonly number[],
  stopped: AbortSignal,
): Promise<Look> {
  let place: Place | null = null
  let failure: string | null = null
  for (const delayMs of delaysMs) {
    if (delayMs > 0) await sleep(clock, delayMs, stopped)
    try {
      place = await node.placeOf(block)
      failure = null
      if (place.kind !== 'awaited') break
    } catch (error) {
      failure = describeError(error)
      // The node itself says that it cannot be asked this.
      if (error instanceof NodeRefusal && error.isNodesOwn) break
    }
    if (stopped.aborted) break
  }
  return { place, failure }
}
