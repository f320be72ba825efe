/** Small things that wait. */
import type { Clock } from '../core/clock.ts'

/** Runs a function after that time unless the signal aborts before. */
export function after(clock: Clock, delayMs: number, signal: AbortSignal, run: () => void): void {
  const cancel = clock.after(delayMs, run)
  signal.addEventListener('abort', cancel, { once: true })
}

/** Runs a function at an interval until the signal aborts. */
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
