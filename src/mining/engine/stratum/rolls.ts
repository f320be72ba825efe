/**
 * Time that a rig may search one header: less than it needs for a quarter of the nonces, and less than its silence
 * timeout.
 */

/** Rigs accept two jobs per second. */
export const MIN_ROLL_MS = 500
/** Rigs leave after a minute without a line. The limit leaves time for the network and busy servers. */
export const MAX_ROLL_MS = 29_000
const TERA = 1e12
/**
 * Programs -> hashes per second of the fastest rig with them. An Antminer KA3 counts to 256 whatever the nonces are,
 * within a second. So it always gets two headers per second.
 */
const RATES: readonly (readonly [RegExp, number])[] = [
  [/godminer|ckbminer/i, Number.POSITIVE_INFINITY],
  [/kdaminer|goldshell|bfgminer/i, 41 * TERA],
  [/ibelink|bm-k/i, 70 * TERA],
  [/antminer|bmminer|sgminer|cgminer/i, 166 * TERA],
]
/** A measured rate may be too low by this factor. */
const RATE_ERROR = 1.4
/** Assumed shares per second of a rig with an unknown rate. */
const SHARES_PER_SECOND = 2
/** The same if so many shares arrived at once that the difficulty was raised, which may still be far too low. */
const FLOOD_PER_SECOND = 100

export interface RigFigures {
  /** Name that its program reports. */
  readonly agent: string
  /** Hashes per second by its recent shares, or by those of its worker's earlier connection. Null if unknown. */
  readonly rate: number | null
  /** Share difficulty in hashes. */
  readonly difficulty: number
  /** Whether it may be far faster than these figures suggest. */
  readonly isFlooding?: boolean
}

/**
 * Time in milliseconds after which a rig needs another header.
 * @param noncesPerJob nonces that it may try for one header
 */
export function rollMs({ agent, rate, difficulty, isFlooding }: RigFigures, noncesPerJob: number): number {
  const byAgent = RATES.find(([pattern]) => pattern.test(agent))?.[1] ?? 0
  const isFixed = byAgent === Number.POSITIVE_INFINITY
  const unknown = Math.max(byAgent, (isFlooding ? FLOOD_PER_SECOND : SHARES_PER_SECOND) * difficulty)
  const most = isFixed ? byAgent : rate === null || isFlooding ? unknown : RATE_ERROR * rate
  return Math.min(MAX_ROLL_MS, Math.max(MIN_ROLL_MS, (noncesPerJob * 1000) / most))
}
