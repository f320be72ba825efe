/** Time as it is passed in to everything that must not touch a clock or a timer itself. */
export interface Clock {
  /** Wall clock, milliseconds since the UNIX epoch; may jump. */
  wallMs(): number
  /** Milliseconds from an arbitrary start; never jumps. */
  monotonicMs(): number
  /** Runs `run` once after the delay, soon where it is 0 or less. Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void
}

/**
 * Runs `run` once the monotonic clock shows `dueMs` or later, never before. Timers may run up to a millisecond early, and
 * times with fractions round: where time is left, it waits at least one more millisecond. Returns a function that cancels it.
 */
export function notBefore(clock: Clock, dueMs: number, run: () => void): () => void {
  let cancel: () => void = () => undefined
  const wait = () => {
    const leftMs = Math.ceil(dueMs - clock.monotonicMs())
    cancel = clock.after(Math.max(0, leftMs), () => (clock.monotonicMs() < dueMs ? wait() : run()))
  }
  wait()
  return () => cancel()
}

/** Resolves after the delay, or at once when the signal aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(delayMs, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}
