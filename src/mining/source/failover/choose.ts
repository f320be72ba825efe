/** Chooses the upstream that gives work. Pure: no clock and no network. */

/** Whether and since when an upstream is fit to give work. */
export interface NodeHealth {
  /** Whether it can give work at all. */
  readonly isUp: boolean
  /** Monotonic time in milliseconds since which it is fit, or null while it is not. */
  readonly fitSinceMs: number | null
}

/**
 * Chooses an upstream by its index. A fit current one is replaced only by one of higher priority that has been fit for
 * `failbackMs`. If none is fit, the current one stays while it is up, even if it gives no work. An unfit one that gives
 * work may be behind, and its blocks would be orphaned.
 *
 * @param upstreams in order of priority
 * @param current index of the active upstream, or null
 * @returns null if none can give work
 */
export function chooseUpstream(
  upstreams: readonly NodeHealth[],
  current: number | null,
  { nowMs, failbackMs }: { readonly nowMs: number; readonly failbackMs: number },
): number | null {
  const first = (isWanted: (upstream: NodeHealth, index: number) => boolean) => {
    const index = upstreams.findIndex(isWanted)
    return index < 0 ? null : index
  }
  const present = current === null ? undefined : upstreams[current]
  if (present?.fitSinceMs != null) {
    return first(({ fitSinceMs }, i) => i === current || (fitSinceMs !== null && nowMs >= fitSinceMs + failbackMs))
  }
  return first(({ fitSinceMs }) => fitSinceMs !== null) ?? (present?.isUp ? current : first(({ isUp }) => isUp))
}
