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

/**
 * Weekday (0 is Sunday) and minute of the day, in the time zone of this process.
 * @param unixMs Unix time in milliseconds
 */
export function localTime(unixMs: number): { readonly day: number; readonly minute: number } {
  const at = new Date(unixMs)
  return { day: at.getDay(), minute: at.getHours() * 60 + at.getMinutes() }
}
