/**
 * The difficulty of a rig's shares, so that it hands in about one in ten seconds: enough to know its rate, few enough to
 * judge them all. Pure: time and shares come in, the next difficulty comes out.
 *
 * The rate comes from what the hashes were, not from what the rig was told: the largest of n hashes in t seconds takes d
 * hashes on average, so the rig does about (n - 1) x d / t a second. This sees chips that report hard hashes only,
 * whatever easy target they are told.
 */

/** How low silence brings the difficulty. */
export interface VardiffBounds {
  readonly least: number
  /** The same until the first share: a spare connection keeps its difficulty. */
  readonly leastAtFirst: number
  /** Silence divides by this until the first share, and by two from then on. */
  readonly firstStep: number
}

/** What is known of a rig at its present difficulty. */
export interface Vardiff {
  /** Hashes that a share takes on average. */
  readonly difficulty: number
  readonly bounds: VardiffBounds
  /** null: no share came at this difficulty. */
  readonly window: Window | null
  /** Time of the last share, change, or step down, in milliseconds. */
  readonly quietSinceMs: number
  readonly hasShared: boolean
  /** Whether a rate was known before: then steps up are small. */
  readonly hasRate: boolean
  /** Whether silence brought it here, and no share came since. */
  readonly isLowered: boolean
  /** Hashes a second; null: not known, or not any more. */
  readonly rate: number | null
  /** Whether so many shares came at once that no rate is known: the rig may be far faster than the difficulty says. */
  readonly isFlooding: boolean
}

/** Shares that came since the first one. That one starts the clock. */
interface Window {
  readonly sinceMs: number
  readonly lastMs: number
  readonly shares: number
  /** Hashes that the easiest of them takes on average. */
  readonly easiest: number
}

/** How long a share should take. */
export const SHARE_MS = 10_000
/** So many shares tell the rate to within 35 %: enough where it is far off. */
export const SOME_SHARES = 8
/** So many tell it to within 25 %. */
const MANY_SHARES = 16
const FAR = 4
/** A difficulty is left alone while shares take from so much to so much of the time wanted. */
const DEAD_BAND = { from: 0.5, to: 1.4 }
/** Longest step up at once, after the first. */
const MAX_STEP_UP = 4
/** Without a share for so long the difficulty goes down. */
const SILENCE_MS = 3 * SHARE_MS
/** Shares that come at once are not all of one moment. */
const MIN_WINDOW_MS = 10
/** The network may spread or gather shares by so much: a shorter time says that the rig is fast, and not how fast. */
const MEASURED_MS = 1000
const MOST = 2 ** 64

export function vardiff(difficulty: number, nowMs: number, bounds: VardiffBounds): Vardiff {
  const none = { window: null, hasShared: false, hasRate: false, isLowered: false, isFlooding: false, rate: null }
  return { difficulty, bounds, quietSinceMs: nowMs, ...none }
}

/** Shares that came one after the other. */
export interface ShareBatch {
  readonly shares: number
  readonly firstMs: number
  readonly lastMs: number
  /** Hashes that the hash of the first one takes on average. */
  readonly first: number
  /** The same of the easiest of all others; infinite where there are none. */
  readonly easiestAfter: number
}

/** One more share came, whose hash takes `hashes` on average. */
export function shared(state: Vardiff, nowMs: number, hashes: number): Vardiff {
  const one = { shares: 1, firstMs: nowMs, lastMs: nowMs, first: hashes, easiestAfter: Number.POSITIVE_INFINITY }
  return sharedAll(state, one)
}

/** More shares came. */
export function sharedAll(state: Vardiff, { shares, firstMs, lastMs, first, easiestAfter }: ShareBatch): Vardiff {
  const { window } = state
  const next: Window =
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

/** How many shares tell of the rate. The first one of a difficulty starts the clock, and tells nothing. */
export function sharesOf({ window }: Vardiff): number {
  return window?.shares ?? -1
}

/** A share came that says nothing of the rate, since it is of an earlier difficulty. The rig is not silent. */
export function heard(state: Vardiff, nowMs: number): Vardiff {
  return nowMs <= state.quietSinceMs ? state : { ...state, quietSinceMs: nowMs, hasShared: true }
}

/** The state with the difficulty that fits, or the same object: nothing changes. */
export function adjusted(state: Vardiff, nowMs: number): Vardiff {
  const { window, quietSinceMs } = state
  if (window !== null && window.shares >= SOME_SHARES) {
    const next = measured(state, window, nowMs)
    if (next !== null) return next
  }
  return nowMs - quietSinceMs >= SILENCE_MS ? lowered(state, nowMs) : state
}

/** By the shares of the window; null: they tell too little. */
function measured(state: Vardiff, window: Window, nowMs: number): Vardiff | null {
  const { difficulty, bounds, hasRate } = state
  const windowMs = window.lastMs - window.sinceMs
  const seconds = Math.max(MIN_WINDOW_MS, windowMs) / 1000
  const rate = ((window.shares - 1) * window.easiest) / seconds
  const ratio = (rate * SHARE_MS) / 1000 / difficulty
  if (window.shares < MANY_SHARES && ratio <= FAR && ratio >= 1 / FAR) return null
  const isRight = ratio >= DEAD_BAND.from && ratio <= DEAD_BAND.to
  // Of shares that come at once only this much is known: it is no less, unless they waited in the network.
  const isMeasured = isRight || windowMs >= MEASURED_MS
  const known = {
    ...state,
    rate: windowMs < MIN_WINDOW_MS ? null : rate,
    isFlooding: !isMeasured,
    hasRate: hasRate || isMeasured,
  }
  const step = hasRate ? Math.min(ratio, MAX_STEP_UP) : ratio
  const next = isRight ? difficulty : Math.min(MOST, Math.max(bounds.least, powerOfTwo(difficulty * step)))
  if (next === difficulty) return { ...known, window: opened(window.lastMs) }
  return { ...known, difficulty: next, window: null, quietSinceMs: nowMs }
}

/** After silence. What was measured before it counts no more. */
function lowered(state: Vardiff, nowMs: number): Vardiff {
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

function opened(nowMs: number): Window {
  return { sinceMs: nowMs, lastMs: nowMs, shares: 0, easiest: Number.POSITIVE_INFINITY }
}

/** The nearest one: some rigs take no other targets. */
export function powerOfTwo(difficulty: number): number {
  return 2 ** Math.round(Math.log2(difficulty))
}
