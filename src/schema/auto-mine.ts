/** How a network without proof of work gets its blocks, besides those of miners and of orders. */
import { formatDuration, formatHashrate } from '../core/units.ts'

/** `on-demand`: only by POST /make-blocks, and by miners as always. */
export type AutoMine =
  | { readonly kind: 'on-demand' }
  /** A block on every chain every `blockTimeMs`. */
  | { readonly kind: 'constant'; readonly blockTimeMs: number }
  /** As miners with this hash rate on all chains together would: waits are exponential and follow the difficulty. */
  | { readonly kind: 'simulated'; readonly hashesPerSecond: number }

/** The mode in words. */
export function describeAutoMine(mode: AutoMine): string {
  switch (mode.kind) {
    case 'on-demand':
      return 'blocks by POST /make-blocks'
    case 'constant':
      return `a block on every chain each ${formatDuration(mode.blockTimeMs)}`
    case 'simulated':
      return `blocks as ${formatHashrate(mode.hashesPerSecond)} would find them`
  }
}
