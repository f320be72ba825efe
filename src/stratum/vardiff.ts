/**
 * The difficulty of a rig's shares, so that it hands in about one in ten seconds: enough to know its rate, few enough to
 * judge them all. Pure: time and shares come in, the next difficulty comes out.
 */

/** What is known of a rig at its present difficulty. */
export interface Vardiff {
  /** Hashes that a share takes on average. */
  readonly difficulty: number
  /** When it was set, in milliseconds. */
  readonly sinceMs: number
  /** Shares since then. */
  readonly shares: number
}

/** How long a share should take. */
export const SHARE_MS = 10_000
/** So many shares tell enough of the rate for a rig that is far faster than thought. */
const MANY_SHARES = 8
/** After this time a rig's difficulty is looked at, however few shares came. */
const LOOK_MS = 40_000
/** A difficulty is left alone while shares come at up to this many times the pace wanted, or as many times less. */
const TOLERANCE = 2
/** Longest step at once. */
const MAX_STEP = 64

export interface VardiffLimits {
  readonly least: number
  readonly most: number
}

export function vardiff(difficulty: number, nowMs: number): Vardiff {
  return { difficulty, sinceMs: nowMs, shares: 0 }
}

/** One more share came. */
export function shared({ difficulty, sinceMs, shares }: Vardiff): Vardiff {
  return { difficulty, sinceMs, shares: shares + 1 }
}

/** The state with the difficulty that fits, or the same object: nothing changes. */
export function adjusted(state: Vardiff, nowMs: number, { least, most }: VardiffLimits): Vardiff {
  const { difficulty, sinceMs, shares } = state
  const elapsedMs = Math.max(1, nowMs - sinceMs)
  if (shares < MANY_SHARES && elapsedMs < LOOK_MS) return state
  // A share that is just about to come counts, so that none at all is no rate of zero.
  const pace = ((shares + (shares === 0 ? 0.5 : 0)) * SHARE_MS) / elapsedMs
  const isFar = pace > TOLERANCE || pace < 1 / TOLERANCE
  const step = isFar ? Math.min(MAX_STEP, Math.max(1 / MAX_STEP, pace)) : 1
  const next = Math.min(most, Math.max(least, difficulty * step))
  if (next !== difficulty) return vardiff(next, nowMs)
  // Begun anew, so that a rig that changes its rate is seen soon.
  return elapsedMs >= LOOK_MS && shares >= MANY_SHARES ? vardiff(difficulty, nowMs) : state
}
