/** Which of several upstreams gives work: a pure decision, without clock and network. */

/** How fit an upstream is to give work. */
export interface Fitness {
  /** Whether it can be asked for work at all. */
  readonly isUp: boolean
  /** Since when nothing has spoken against it, in milliseconds; null: something does. */
  readonly fitSinceMs: number | null
}

/**
 * Chooses the upstream that is to give work, by its index. A fit one is left only for one of higher priority that has been
 * fit for `failbackMs`. Where none is fit, the present one is kept while it is up, though it may give no work: one that
 * gives some and is unfit may be behind, and its blocks would be orphans.
 *
 * @param upstreams in order of priority
 * @param current the index of the one that gives work now; null: none does
 * @returns null if none can give work
 */
export function choose(
  upstreams: readonly Fitness[],
  current: number | null,
  { nowMs, failbackMs }: { readonly nowMs: number; readonly failbackMs: number },
): number | null {
  const first = (isWanted: (upstream: Fitness, index: number) => boolean) => {
    const index = upstreams.findIndex(isWanted)
    return index < 0 ? null : index
  }
  const present = current === null ? undefined : upstreams[current]
  if (present?.fitSinceMs != null) {
    return first(({ fitSinceMs }, i) => i === current || (fitSinceMs !== null && nowMs >= fitSinceMs + failbackMs))
  }
  return first(({ fitSinceMs }) => fitSinceMs !== null) ?? (present?.isUp ? current : first(({ isUp }) => isUp))
}
