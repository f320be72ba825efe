/** Automatic block production of a network without proof of work, in addition to blocks by miners and requests. */
import { formatDuration, formatHashrate } from '../core/units.ts'

/** `on-demand`: no automatic blocks; POST /make-blocks makes them. */
export type AutoMine =
  | { readonly kind: 'on-demand' }
  /** A block on every chain every `blockTimeMs`. */
  | { readonly kind: 'constant'; readonly blockTimeMs: number }
  /** Simulates miners with this total hashrate: block times are exponentially distributed and follow the difficulty. */
  | { readonly kind: 'simulated'; readonly hashesPerSecond: number }

/** Describes the mode in words. */
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
