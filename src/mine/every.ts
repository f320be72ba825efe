/** Timers on an injected clock that end with an abort signal. */
import type { Clock } from '../base/clock.ts'

/** Calls `run` once after the delay, unless the signal aborts first. */
export function after(clock: Clock, delayMs: number, signal: AbortSignal, run: () => void): void {
  const cancel = clock.after(delayMs, run)
  signal.addEventListener('abort', cancel, { once: true })
}

/** Calls `run` at each interval until the signal aborts. */
export function every(clock: Clock, intervalMs: number, signal: AbortSignal, run: () => void): void {
  let cancel: () => void = () => undefined
  const schedule = () => {
    cancel = clock.after(intervalMs, () => {
      if (signal.aborted) return
      run()
      schedule()
    })
  }
  schedule()
  signal.addEventListener('abort', () => cancel(), { once: true })
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
