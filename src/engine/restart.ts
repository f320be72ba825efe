/** When a device that failed is started again. */

/** The bound of the pause does not grow beyond this. */
const MAX_RESTART_MS = 30_000

/**
 * Full jitter: any time below a bound that doubles with every failure in a row, up to a cap. What takes down one device
 * (a driver, a power supply) often takes down all, and they should not all start again at the same moment.
 * `failures` >= 1; `random` is uniform in [0, 1).
 */
export function restartPauseMs(failures: number, firstMs: number, random: () => number): number {
  return Math.floor(random() * Math.min(MAX_RESTART_MS, firstMs * 2 ** (failures - 1)))
}
