/**
 * Vardiff: sets a rig's share difficulty to about one share per ten seconds, enough to measure its hashrate and few
 * enough to check them all. Pure: time and shares in, difficulty out.
 *
 * The hashrate is measured from the hashes, not from the assigned difficulty. If the easiest of n hashes in t seconds
 * takes d hashes on average, the rig does about (n - 1) x d / t per second. This detects chips that report only hard
 * hashes, whatever the target.
 */

/** Limits of the reduction by silence. */
export interface VardiffBounds {
  readonly least: number
  /** Lower limit before the first share: a spare connection keeps its difficulty. */
  readonly leastAtFirst: number
  /** Divisor for silence before the first share; afterwards it is two. */
  readonly firstStep: number
}

/** State of a rig at its current difficulty. */
export interface Vardiff {
  /** Average number of hashes per share. */
  readonly difficulty: number
  readonly bounds: VardiffBounds
  /** Null before the first share at this difficulty. */
  readonly window: VardiffWindow | null
  /** Time of the last share, change or reduction, in milliseconds. */
  readonly quietSinceMs: number
  readonly hasShared: boolean
  /** True if a rate was measured before; then steps up are limited. */
  readonly hasRate: boolean
  /** True if silence reduced the difficulty, and no share has come since. */
  readonly isLowered: boolean
  /** Hashes per second; null if unknown or outdated. */
  readonly rate: number | null
  /** True if shares come too fast to measure a rate: the rig may be far faster than its difficulty suggests. */
  readonly isFlooding: boolean
}

/** Shares after the first one, which starts the clock. */
interface VardiffWindow {
  readonly sinceMs: number
  readonly lastMs: number
  readonly shares: number
  /** Average number of hashes for the easiest of them. */
  readonly easiest: number
}

/** Target time per share. */
export const SHARE_MS = 10_000
/** This number of shares gives the rate to within 35 %, enough for large corrections. */
export const SOME_SHARES = 8
/** This number of shares gives the rate to within 25 %. */
const MANY_SHARES = 16
const FAR_OFF = 4
/** No change while the measured rate, relative to the rate that fits the difficulty, is in this range. */
const DEAD_BAND = { from: 0.5, to: 1.4 }
/** Maximum factor of a step up, once a rate is known. */
const MAX_STEP_UP = 4
/** Time without a share after which the difficulty is reduced. */
const SILENCE_MS = 3 * SHARE_MS
/** Minimum duration of a window, so that a burst gives no infinite rate. */
const MIN_WINDOW_MS = 10
/** Network jitter. A window shorter than this shows that the rig is fast, but not how fast. */
const MEASURED_MS = 1000
/** Far above the difficulty of any block. */
const MAX_DIFFICULTY = 2 ** 64

export function startVardiff(difficulty: number, nowMs: number, bounds: VardiffBounds): Vardiff {
  const none = { window: null, hasShared: false, hasRate: false, isLowered: false, isFlooding: false, rate: null }
  return { difficulty, bounds, quietSinceMs: nowMs, ...none }
}

/** Consecutive shares. */
interface ShareBatch {
  readonly shares: number
  readonly firstMs: number
  readonly lastMs: number
  /** Average number of hashes for the first one. */
  readonly first: number
  /** The same for the easiest of the others; infinite if there are none. */
  readonly easiestAfter: number
}

/** Records a batch of shares. */
export function recordShares(state: Vardiff, { shares, firstMs, lastMs, first, easiestAfter }: ShareBatch): Vardiff {
  const { window } = state
  const next: VardiffWindow =
    window === null
      ? { sinceMs: firstMs, lastMs, shares: shares - 1, easiest: easiestAfter }
      : {
          sinceMs: window.sinceMs,
          lastMs,
          shares: window.shares + shares,
          easiest: Math.min(window.easiest, first, easiestAfter),
        }
  return { ...state, window: next, quietSinceMs: lastMs, hasShared: true, isLowered: false }
}

/**
 * Number of shares that count for the rate. The first one at a difficulty only starts the clock.
 * @returns -1 before the first share
 */
export function sharesInWindow({ window }: Vardiff): number {
  return window?.shares ?? -1
}

/** Records a share of an earlier difficulty: no information about the rate, but the rig is not silent. */
export function recordEarlierShare(state: Vardiff, nowMs: number): Vardiff {
  return nowMs <= state.quietSinceMs ? state : { ...state, quietSinceMs: nowMs, hasShared: true }
}

/** @returns the state with an adjusted difficulty, or the same object if nothing changes */
export function adjust(state: Vardiff, nowMs: number): Vardiff {
  const { window, quietSinceMs } = state
  if (window !== null && window.shares >= SOME_SHARES) {
    const next = adjustByShares(state, window, nowMs)
    if (next !== null) return next
  }
  return nowMs - quietSinceMs >= SILENCE_MS ? lowerBySilence(state, nowMs) : state
}

/**
 * Adjusts by the shares of the window.
 * @returns null if there are too few
 */
function adjustByShares(state: Vardiff, window: VardiffWindow, nowMs: number): Vardiff | null {
  const { difficulty, bounds, hasRate } = state
  const windowMs = window.lastMs - window.sinceMs
  const seconds = Math.max(MIN_WINDOW_MS, windowMs) / 1000
  const rate = ((window.shares - 1) * window.easiest) / seconds
  const ratio = (rate * SHARE_MS) / 1000 / difficulty
  if (window.shares < MANY_SHARES && ratio <= FAR_OFF && ratio >= 1 / FAR_OFF) return null
  const isRight = ratio >= DEAD_BAND.from && ratio <= DEAD_BAND.to
  // A burst gives a lower bound only, unless its shares were queued in the network.
  const isMeasured = isRight || windowMs >= MEASURED_MS
  const known = {
    ...state,
    rate: windowMs < MIN_WINDOW_MS ? null : rate,
    isFlooding: !isMeasured,
    hasRate: hasRate || isMeasured,
  }
  const step = hasRate ? Math.min(ratio, MAX_STEP_UP) : ratio
  const next = isRight ? difficulty : Math.min(MAX_DIFFICULTY, Math.max(bounds.least, powerOfTwo(difficulty * step)))
  if (next === difficulty) return { ...known, window: startWindow(window.lastMs) }
  return { ...known, difficulty: next, window: null, quietSinceMs: nowMs }
}

/** Reduces the difficulty after silence, and discards earlier measurements. */
function lowerBySilence(state: Vardiff, nowMs: number): Vardiff {
  const { difficulty, bounds, hasShared } = state
  const [least, step] = hasShared ? [bounds.least, 2] : [bounds.leastAtFirst, bounds.firstStep]
  const next = Math.min(difficulty, Math.max(least, powerOfTwo(difficulty / step)))
  return {
    ...state,
    difficulty: next,
    window: null,
    quietSinceMs: nowMs,
    isLowered: true,
    isFlooding: false,
    rate: null,
  }
}

function startWindow(nowMs: number): VardiffWindow {
  return { sinceMs: nowMs, lastMs: nowMs, shares: 0, easiest: Number.POSITIVE_INFINITY }
}

/** Nearest power of two: some rigs accept no other difficulties. */
export function powerOfTwo(difficulty: number): number {
  return 2 ** Math.round(Math.log2(difficulty))
}
