/** Pauses between attempts: the only formulas of exponential backoff and of jitter. */

/** Bounds of the pauses. */
interface Backoff {
  /** Maximum pause after the first failure in milliseconds. It doubles with each further failure in a row. */
  readonly firstMs: number
  /** Maximum pause after any failure in milliseconds. */
  readonly maxMs: number
  /** Portion of the maximum that is random: 1 for any pause below it, 0.5 for at least half of it. Default: 1. */
  readonly jitter?: number
}

/**
 * A random pause. One cause often fails many callers at once, and jitter keeps them from trying again together.
 * @param failures earlier failures in a row: 0 after the first one
 * @param random uniform in [0, 1)
 * @returns milliseconds
 */
export function backoffMs({ firstMs, maxMs, jitter = 1 }: Backoff, failures: number, random: () => number): number {
  return (1 - jitter + jitter * random()) * Math.min(maxMs, firstMs * 2 ** failures)
}

/** Pauses from half to one and a half times of a pace that doubles. Both times are in milliseconds. */
export const aroundMs = (firstMs: number, maxMs: number): Backoff => ({
  firstMs: 1.5 * firstMs,
  maxMs: 1.5 * maxMs,
  jitter: 2 / 3,
})

/** A pause from half to one and a half times of a pace in milliseconds. @param random uniform in [0, 1) */
export const jitteredMs = (paceMs: number, random: () => number): number => paceMs * (0.5 + random())
