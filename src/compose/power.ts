/** The power of a miner: its sensors, and what the user states. */

import { systemClock } from '#ground/platform/clock.ts'
import type { PowerPort, StatedPower } from '#mining/mine/energy.ts'
import { Sensors, type SensorsOptions } from '#mining/sensors/sensors.ts'

/** A power port whose statements may change. */
export interface PowerMonitor extends PowerPort {
  readonly set: (stated: StatedPower) => void
  readonly stop: () => void
}

/**
 * Starts to read the sensors.
 * @param where no sensors are read if undefined
 * @param hasCards whether the machine currently has cards to query
 */
export function openPower(
  where: Omit<SensorsOptions, 'clock' | 'hasCards'> | undefined,
  stated: StatedPower,
  hasCards: () => boolean,
): PowerMonitor {
  const sensors = where && new Sensors({ ...where, clock: systemClock, hasCards })
  let now = stated
  return {
    readings: () => sensors?.readings ?? [],
    statedPower: () => now,
    problem: () => sensors?.powerProblem ?? null,
    set: (next) => {
      now = next
    },
    stop: () => sensors?.stop(),
  }
}
