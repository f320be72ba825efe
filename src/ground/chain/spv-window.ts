/** Maximum age of the block in which a proof from another chain may end (PROTOCOL.md B.8). */

import { valueAt } from './fork.ts'
import type { NetworkDefinition } from './network.ts'

/**
 * Maximum distance, in blocks, from the parent of a new block down to the block in which a proof ends.
 * @returns null if there is no limit
 */
export function spvWindow(
  { spvWindows }: Pick<NetworkDefinition, 'spvWindows'>,
  parentHeight: number,
  parentForkNumber: number,
): number | null {
  return valueAt(spvWindows, parentHeight, parentForkNumber)?.blocks ?? null
}

/** Heights of the end of a proof and of its use, all on one chain. */
interface ProofPlace {
  /** Height of the block in which the proof ends: the parent or one of its ancestors. */
  readonly rootHeight: number
  readonly parentHeight: number
  /** Height of the chain's genesis block. */
  readonly genesisHeight: number
}

/** True if the proof is recent enough. A chain shorter than the window accepts every proof. */
export function isInSpvWindow(window: number | null, { rootHeight, parentHeight, genesisHeight }: ProofPlace): boolean {
  return window === null || window + genesisHeight > parentHeight || rootHeight >= parentHeight - window
}
