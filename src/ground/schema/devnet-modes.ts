/** Modes of an embedded network: how it makes blocks by itself, and the node release that it follows. */
import { formatDuration, formatHashrate } from '../base/units.ts'

/** Releases of the public node whose rules the embedded node supports. A preview has the rules of the next one, as far as they are known. */
export const nodeReleases = ['3.2', '2.32', '3.3-preview'] as const
export type NodeRelease = (typeof nodeReleases)[number]
/** Release whose rules nodes follow by default. */
export const newestRelease: NodeRelease = '3.2'

/**
 * Automatic block production of a network without proof of work, in addition to blocks by miners and requests.
 * `on-demand`: no automatic blocks; POST /make-blocks makes them.
 */
export type AutoMine =
  | { readonly kind: 'on-demand' }
  /**
   * A block for commands as soon as they are pending, and then this many blocks on every chain. Chains that hold up the
   * block grow too.
   */
  | { readonly kind: 'on-arrival'; readonly confirmations: number }
  /** A block on every chain every `blockTimeMs`. */
  | { readonly kind: 'constant'; readonly blockTimeMs: number }
  /** Simulates miners with this total hashrate: block times are exponentially distributed and follow the difficulty. */
  | { readonly kind: 'simulated'; readonly hashesPerSecond: number }

/** How a miner paces its blocks at a node without proof of work. */
export type BlockPace = Extract<AutoMine, { readonly kind: 'on-demand' | 'constant' }>

/**
 * Blocks on every chain after a block that was made on arrival, by default. They suffice for proofs: any two chains of
 * a network are closer.
 */
export const CONFIRMATIONS = 5
/** Maximum number of such blocks: each command makes them all before its sender sees the result. */
export const MAX_CONFIRMATIONS = 100

/** Describes the mode in words. */
export function describeAutoMine(mode: AutoMine): string {
  switch (mode.kind) {
    case 'on-demand':
      return 'blocks by POST /make-blocks'
    case 'on-arrival':
      return `a block for each command at once, then ${mode.confirmations} on every chain`
    case 'constant':
      return `a block on every chain each ${formatDuration(mode.blockTimeMs)}`
    case 'simulated':
      return `blocks as ${formatHashrate(mode.hashesPerSecond)} would find them`
  }
}

/** Why a fork takes any nonce. */
export const NO_WORK_IN_FORKS =
  'a fork has no proof of work: this machine cannot solve the difficulty of the forked network'
