/** Maximum age of the block in which a proof from another chain may end (PROTOCOL.md B.8). */

/** Blocks, as of node release 2.31. */
const FIRST_WINDOW = 20_000
/** Blocks, from fork number 1. */
const FORK_1_WINDOW = 525_600

/**
 * Maximum distance, in blocks, from the parent of a new block down to the block in which a proof ends.
 * @returns null if there is no limit
 */
export function spvWindow(network: string, parentHeight: number, parentForkNumber: number): number | null {
  switch (network) {
    case 'mainnet01':
      // From fork number 1, the height does not matter.
      if (parentForkNumber >= 1) return FORK_1_WINDOW
      return parentHeight >= 6_269_345 && parentHeight < 6_510_743 ? FIRST_WINDOW : null
    case 'testnet04':
      return parentHeight >= 5_783_986 ? FIRST_WINDOW : null
    default:
      return null
  }
}

/** Heights of the end of a proof and of its use, all on one chain. */
export interface ProofPlace {
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
