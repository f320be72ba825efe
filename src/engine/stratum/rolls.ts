/** How long a rig may search one header: less than it needs for a quarter of the nonces, and never so long that it leaves. */

/** Rigs take two jobs a second. */
export const LEAST_ROLL_MS = 500
/** Rigs leave after a minute without a line. Some of that goes by on the way, and at servers that are busy. */
export const MOST_ROLL_MS = 29_000
const TERA = 1e12
/**
 * Programs -> hashes a second of the fastest rig that has them. An Antminer KA3 counts to 256 whatever the nonces are, which
 * takes it a second: it always gets two headers a second.
 */
const RATES: readonly (readonly [RegExp, number])[] = [
  [/godminer|ckbminer/i, Number.POSITIVE_INFINITY],
  [/kdaminer|goldshell|bfgminer/i, 41 * TERA],
  [/ibelink|bm-k/i, 70 * TERA],
  [/antminer|bmminer|sgminer|cgminer/i, 166 * TERA],
]
/** A rate that was measured may be so much too low. */
const ERROR = 1.4
/** A rig whose rate is not known is taken to find so many shares a second. */
const SHARES_PER_SECOND = 2
/** The same for one of whose shares so many came at once that its difficulty was raised, and may not fit by far. */
const FLOOD_PER_SECOND = 100

export interface KnownOfRig {
  /** What its program says of itself. */
  readonly agent: string
  /** Hashes a second, by its shares of late or those of its worker at an earlier connection; null: not known. */
  readonly rate: number | null
  /** Hashes that its shares take on average. */
  readonly difficulty: number
  /** Whether it may be far faster than all of this says. */
  readonly isFlooding?: boolean
}

/** Milliseconds after which a rig needs another header, where one has so many nonces for it. */
export function rollMs({ agent, rate, difficulty, isFlooding }: KnownOfRig, noncesPerJob: number): number {
  const byAgent = RATES.find(([pattern]) => pattern.test(agent))?.[1] ?? 0
  const isFixed = byAgent === Number.POSITIVE_INFINITY
  const unknown = Math.max(byAgent, (isFlooding ? FLOOD_PER_SECOND : SHARES_PER_SECOND) * difficulty)
  const most = isFixed ? byAgent : rate === null || isFlooding ? unknown : ERROR * rate
  return Math.min(MOST_ROLL_MS, Math.max(LEAST_ROLL_MS, (noncesPerJob * 1000) / most))
}
