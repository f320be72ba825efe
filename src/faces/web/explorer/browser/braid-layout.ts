/** Computes the positions of a braid: one lane per chain, heights from left to right. */
import type { KnownBlock } from './state.ts'

/** Dimensions in CSS pixels. */
export interface Layout {
  readonly width: number
  readonly height: number
  readonly chains: number
  readonly left: number
  readonly top: number
  readonly lane: number
  /** Distance between two heights. */
  readonly step: number
  /** Half the width and half the height of a block. */
  readonly block: readonly [number, number]
  /** Whether a block has room for its height. */
  readonly hasText: boolean
}

const RIGHT = 34
const TOP = 14
const BOTTOM = 26

export function layoutFor(width: number, chains: number): Layout {
  const isNarrow = width < 600
  const { lane, step, block, hasText } = gridFor(chains, isNarrow)
  const height = TOP + lane * chains + BOTTOM
  return { width, height, chains, left: isNarrow ? 26 : 34, top: TOP + lane / 2, lane, step, block, hasText }
}

/** The distances and the block size: the more chains, the denser. */
function gridFor(chains: number, isNarrow: boolean): Pick<Layout, 'lane' | 'step' | 'block' | 'hasText'> {
  if (chains <= 3) return { lane: isNarrow ? 64 : 76, step: isNarrow ? 62 : 78, block: [19, 13], hasText: true }
  if (chains <= 10) return { lane: isNarrow ? 28 : 34, step: isNarrow ? 36 : 50, block: [6.5, 6.5], hasText: false }
  return { lane: isNarrow ? 18 : 22, step: isNarrow ? 30 : 46, block: isNarrow ? [4, 4] : [5, 5], hasText: false }
}

/** Number of visible heights. */
export const heightsIn = ({ width, left, step }: Layout) => Math.ceil((width - left - RIGHT) / step) + 1

/** @param newest height at the right edge, fractional during movement */
export function xOf({ width, step }: Layout, height: number, newest: number): number {
  return width - RIGHT - (newest - height) * step
}

export const yOf = ({ top, lane }: Layout, chain: number) => top + chain * lane

/** Vertical offset of an orphaned block below its lane. */
export const orphanOffset = ({ lane, hasText }: Layout) => lane * (hasText ? 0.42 : 0.4)

/** @returns the block near a point, if any */
export function blockAt(
  layout: Layout,
  blocks: Iterable<KnownBlock>,
  [x, y]: readonly [number, number],
  newest: number,
): KnownBlock | null {
  let [found, nearest] = [null as KnownBlock | null, Math.max(14, layout.block[0] + 4)]
  for (const block of blocks) {
    const blockY = yOf(layout, block.chain) + (block.isOnChain ? 0 : orphanOffset(layout))
    const distance = Math.hypot(xOf(layout, block.height, newest) - x, blockY - y)
    if (distance < nearest) [found, nearest] = [block, distance]
  }
  return found
}

/** A block and its visible ancestors, each with its distance in steps. */
export function pastOf(block: KnownBlock, blocks: ReadonlyMap<string, KnownBlock>, steps: number): Map<string, number> {
  const past = new Map([[block.hash, 0]])
  let edge = [block]
  for (let step = 1; step <= steps && edge.length > 0; step++) {
    const next: KnownBlock[] = []
    for (const { parent, adjacents } of edge) {
      for (const hash of [parent, ...adjacents]) {
        const found = blocks.get(hash)
        if (found === undefined || past.has(hash)) continue
        past.set(hash, step)
        next.push(found)
      }
    }
    edge = next
  }
  return past
}
