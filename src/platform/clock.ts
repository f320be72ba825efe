/** Clock of this machine. */
import type { Clock } from '../base/clock.ts'

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.max(0, delayMs))
    return () => clearTimeout(timer)
  },
}
