import type { Clock } from '../core/clock.ts'

/** The clock of this machine: src/platform has another one for whoever may import it. */
export const machineClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.max(0, delayMs))
    return () => clearTimeout(timer)
  },
}
