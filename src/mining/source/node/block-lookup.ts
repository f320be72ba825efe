/** Looks for the block of a solution on the chains of a node. */
import { describeError } from '#ground/base/errors.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import type { Solution } from '../source.ts'
import type { NodeCalls } from './calls.ts'
import type { BlockPosition, MiningNode } from './mining-node.ts'

/** The block that a solution makes. */
export interface SolvedBlock {
  readonly bytes: Uint8Array
  readonly chain: number
  readonly height: number
  readonly hash: Uint8Array
}

/** The block of a solution. */
export function blockOfSolution({ job, bytes }: Solution): SolvedBlock {
  const { chainId: chain, height } = job.work.fields
  return {
    bytes,
    chain,
    height: Number(height),
    // Lazy, so that submitting does not wait for it.
    get hash() {
      return blockHash(bytes)
    },
  }
}

export interface LookupOptions {
  readonly node: MiningNode
  readonly calls: NodeCalls
}

/** The last position, and the failure of the last look if it failed. */
export interface LookupResult {
  readonly position: BlockPosition | null
  readonly failure: string | null
}

/**
 * Looks until the node knows the block, or its chain has another one at that height. After the signal aborts, looks
 * once more. Never throws.
 * @param delaysMs pauses before each look
 */
export async function lookUpBlock(
  block: SolvedBlock,
  { node, calls }: LookupOptions,
  delaysMs: readonly number[],
  stopped: AbortSignal,
): Promise<LookupResult> {
  let place: BlockPosition | null = null
  let failure: string | null = null
  for (const delayMs of delaysMs) {
    if (delayMs > 0) await calls.sleep(delayMs, stopped)
    try {
      place = await calls.ask('block', (signal) => node.positionOf(block, signal))
      failure = null
      if (place.kind !== 'awaited') break
    } catch (error) {
      failure = describeError(error)
    }
    if (stopped.aborted) break
  }
  return { position: place, failure }
}
