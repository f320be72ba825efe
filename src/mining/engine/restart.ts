/** Backoff before a failed device is restarted. */
import { backoffMs } from '#ground/base/backoff.ts'

/** Maximum of the upper bound: a repaired device searches again within this time. */
const MAX_RESTART_MS = 30_000

/**
 * Exponential backoff. One cause (a driver, a power supply) often takes down all devices, and they should not restart at
 * the same moment.
 * @param failures consecutive failures, at least 1
 * @param firstMs upper bound after the first failure
 * @param random uniform in [0, 1)
 */
export function restartPauseMs(failures: number, firstMs: number, random: () => number): number {
  return Math.floor(backoffMs({ firstMs, maxMs: MAX_RESTART_MS }, failures - 1, random))
}
