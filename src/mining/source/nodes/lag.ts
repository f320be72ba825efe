/** Measures how far a node is behind others. Pure. */

/** The cut of a node. */
export interface CutWeight {
  /** Chain -> height of its head. */
  readonly heights: ReadonlyMap<number, number>
  readonly weight: bigint
}

/**
 * Maximum lag of a node that is fit to give work, in mean blocks per chain. Blocks take a
 * moment to spread, so a small lag is usual. Blocks of a node with a larger one would be orphaned.
 */
export const MAX_LAG = 2

/**
 * Mean number of blocks per chain that a node lacks, compared with the node furthest ahead. Only heavier cuts count,
 * because length alone does not win.
 * @param earlier cuts that others had before the node was asked
 */
export function lagOf(now: CutWeight, earlier: readonly CutWeight[]): number {
  const lags = earlier.filter(({ weight }) => weight > now.weight).map(({ heights }) => meanAhead(heights, now.heights))
  return Math.max(0, ...lags)
}

function meanAhead(others: CutWeight['heights'], own: CutWeight['heights']): number {
  let sum = 0
  for (const [chain, height] of others) sum += Math.max(0, height - (own.get(chain) ?? 0))
  return others.size === 0 ? 0 : sum / others.size
}
