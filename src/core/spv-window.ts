/** How old a block may be that a proof of another chain ends in (PROTOCOL.md B.8). */

/** Blocks, since node release 2.31. */
const FIRST_WINDOW = 20_000
/** Blocks, from fork number 1 on. */
const FORK_1_WINDOW = 525_600

/**
 * Blocks below the parent in which a proof may end, where a command runs on top of a parent of this height and fork
 * number; null: any block below the parent will do.
 */
export function spvWindow(network: string, parentHeight: number, parentForkNumber: number): number | null {
  switch (network) {
    case 'mainnet01':
      // From fork number 1 on heights no longer count.
      if (parentForkNumber >= 1) return FORK_1_WINDOW
      return parentHeight >= 6_269_345 && parentHeight < 6_510_743 ? FIRST_WINDOW : null
    case 'testnet04':
      return parentHeight >= 5_783_986 ? FIRST_WINDOW : null
    default:
      return null
  }
}

/** Where a proof ends, and where it is used; all on one chain. */
export interface ProofPlace {
  /** Of the block that the proof ends in, which is the parent or an ancestor of it. */
  readonly rootHeight: number
  readonly parentHeight: number
  /** Of the genesis block of the chain. */
  readonly genesisHeight: number
}

/** Whether a window lets a proof count. A chain that is shorter than the window takes every proof. */
export function isInSpvWindow(window: number | null, { rootHeight, parentHeight, genesisHeight }: ProofPlace): boolean {
  return window === null || window + genesisHeight > parentHeight || rootHeight >= parentHeight - window
}
