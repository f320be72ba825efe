/** Time as it is passed in to everything that must not touch a clock or a timer itself. */
export interface Clock {
  /** Wall clock, milliseconds since the UNIX epoch; may jump. */
  wallMs(): number
  /** Milliseconds from an arbitrary start; never jumps. */
  monotonicMs(): number
  /** Runs `run` once after the delay, soon where it is 0 or less. Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void
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
