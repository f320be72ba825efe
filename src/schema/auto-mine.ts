/** How a network without proof of work gets its blocks, besides those of miners and of orders. */
import { formatDuration, formatHashrate } from '../core/units.ts'

/** `on-demand`: only by POST /make-blocks, and by miners as always. */
export type AutoMine =
  | { readonly kind: 'on-demand' }
  /** A block on every chain in each such time. */
  | { readonly kind: 'constant'; readonly blockTimeMs: number }
  /** All chains together, as miners of this hash rate would: waits are exponential and follow the difficulty. */
  | { readonly kind: 'simulated'; readonly hashesPerSecond: number }

/** For people. */
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
