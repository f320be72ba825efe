/** Backoff before a failed device is restarted. */

/** Maximum of the upper bound. */
const MAX_RESTART_MS = 30_000

/**
 * Exponential backoff with full jitter: a random time below a bound that doubles with each consecutive failure. One
 * cause (a driver, a power supply) often takes down all devices, and they should not restart at the same moment.
 * @param failures consecutive failures, at least 1
 * @param firstMs bound after the first failure
 * @param random uniform in [0, 1)
 */
export function restartPauseMs(failures: number, firstMs: number, random: () => number): number {
  return Math.floor(random() * Math.min(MAX_RESTART_MS, firstMs * 2 ** (failures - 1)))
}
