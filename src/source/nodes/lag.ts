/** How far a node is behind others. Pure. */

/** The cut of a node at some time. */
export interface Heads {
  /** Chain -> height of its head. */
  readonly heights: ReadonlyMap<number, number>
  readonly weight: bigint
}

/** More blocks than this behind the others, in the mean over the chains, and a node is not fit to give work. */
export const MAX_LAG = 2

/**
 * How many blocks a node lacks that others had before it was asked: the mean over the chains, of the node that is
 * furthest ahead. Only heavier cuts count: length alone does not win. `earlier`: cuts that others had by then.
 */
export function lagOf(now: Heads, earlier: readonly Heads[]): number {
  const lags = earlier.filter(({ weight }) => weight > now.weight).map(({ heights }) => meanAhead(heights, now.heights))
  return Math.max(0, ...lags)
}

function meanAhead(others: Heads['heights'], own: Heads['heights']): number {
  let sum = 0
  for (const [chain, height] of others) sum += Math.max(0, height - (own.get(chain) ?? 0))
  return others.size === 0 ? 0 : sum / others.size
}
