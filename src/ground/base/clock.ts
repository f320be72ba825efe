/** Source of time, passed to code that must not touch a clock or a timer itself. */
export interface Clock {
  /** Wall clock, milliseconds since the UNIX epoch; may jump. */
  wallMs(): number
  /** Milliseconds from an arbitrary start; never jumps. */
  monotonicMs(): number
  /**
   * Runs `run` once after the delay, or soon if the delay is 0 or less.
   * @returns a function that cancels it
   */
  after(delayMs: number, run: () => void): () => void
}

/**
 * Runs `run` once the monotonic clock shows `dueMs` or later, never before.
 *
 * Timers may fire up to a millisecond early, and fractional times are rounded. If time is left, the timer waits at
 * least one more millisecond.
 * @returns a function that cancels it
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

/** Resolves after the delay, or immediately when the signal aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const finish = () => {
      cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = clock.after(delayMs, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
