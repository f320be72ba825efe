import type { Clock } from '#ground/base/clock.ts'

/** Clock of this machine; the one in src/ground/platform is out of reach for this room. */
export const machineClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.max(0, delayMs))
    return () => clearTimeout(timer)
  },
}
