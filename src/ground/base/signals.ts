/** Abort signals: combined, waited for, and timers on a passed-in clock that end with one. */
import type { Clock } from './clock.ts'

/**
 * Runs `run` with a signal that aborts with the first of `sources`, for the same reason, and removes its listeners at
 * the end.
 *
 * Use it instead of AbortSignal.any for long-lived sources: in Node 20, each use of that leaks into the source. Rejects
 * with the error that `run` throws.
 */
export async function withFirstOf<T>(
  sources: readonly AbortSignal[],
  run: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const first = new AbortController()
  const leaves = sources.map((source) => {
    const abort = () => first.abort(source.reason)
    if (source.aborted) abort()
    source.addEventListener('abort', abort, { once: true })
    return () => source.removeEventListener('abort', abort)
  })
  try {
    return await run(first.signal)
  } finally {
    for (const leave of leaves) leave()
  }
}

/** Calls `run` once after the delay, unless the signal aborts first. */
export function after(clock: Clock, delayMs: number, signal: AbortSignal, run: () => void): void {
  if (signal.aborted) return
  const cancel = clock.after(delayMs, () => {
    signal.removeEventListener('abort', cancel)
    run()
  })
  signal.addEventListener('abort', cancel, { once: true })
}

/** Calls `run` at each interval until the signal aborts. */
export function every(clock: Clock, intervalMs: number, signal: AbortSignal, run: () => void): void {
  let cancel: () => void = () => undefined
  const schedule = () => {
    if (signal.aborted) return
    cancel = clock.after(intervalMs, () => {
      run()
      schedule()
    })
  }
  schedule()
  signal.addEventListener('abort', () => cancel(), { once: true })
}

/** Calls `turn` again and again until the signal aborts, with this pause before each. It must not reject. */
export function everyAfter(clock: Clock, pauseMs: number, signal: AbortSignal, turn: () => Promise<void>): void {
  let cancel: () => void = () => undefined
  const wait = () => {
    if (signal.aborted) return
    cancel = clock.after(pauseMs, () => void turn().then(wait))
  }
  wait()
  signal.addEventListener('abort', () => cancel(), { once: true })
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Rejects with the reason of the signal when it aborts. */
export const rejectWhenAborted = (signal: AbortSignal): Promise<never> =>
  untilAborted(signal).then(() => Promise.reject(signal.reason))

/** As `promise`, or rejects with the reason of the signal once that aborts. Leaves no listener at the signal. */
export const orAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  withFirstOf([signal], (ends) => Promise.race([promise, rejectWhenAborted(ends)]))
