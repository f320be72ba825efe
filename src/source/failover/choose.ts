/** Which of several nodes gives work: pure decisions, without clock and network. */

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

/** What speaks for a node and against it. */
export interface Standing {
  /** Whether it can be asked for work at all. */
  readonly isUp: boolean
  /** Since when nothing has spoken against it, in milliseconds; null: something does. */
  readonly fitSinceMs: number | null
}

/**
 * The index of the node that is to give work; null: none can. `nodes`: in order of priority. `current`: the index of the
 * one that gives it now. A fit node is left only for one of higher priority that has been fit for `failbackMs`.
 *
 * Where none is fit, the present one is kept while it is up, though it may give no work, and not left for one that gives
 * some and is behind: that would be work on parents which the network has gone beyond, and its blocks orphans. A node that
 * nobody is ahead of counts as fit, however old its chains are: once the present one is down, it has no say in that.
 */
export function choose(
  nodes: readonly Standing[],
  current: number | null,
  { nowMs, failbackMs }: { readonly nowMs: number; readonly failbackMs: number },
): number | null {
  const first = (isWanted: (node: Standing, index: number) => boolean) => {
    const index = nodes.findIndex(isWanted)
    return index < 0 ? null : index
  }
  const present = current === null ? undefined : nodes[current]
  if (present?.fitSinceMs != null) {
    return first(({ fitSinceMs }, i) => i === current || (fitSinceMs !== null && nowMs - fitSinceMs >= failbackMs))
  }
  return first(({ fitSinceMs }) => fitSinceMs !== null) ?? (present?.isUp ? current : first(({ isUp }) => isUp))
}
