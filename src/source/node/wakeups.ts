/** Tells those who wait for a node that it answers again, so that nobody sleeps on after an outage. */
import { type Clock, sleep } from '../../core/clock.ts'

export class Pulse {
  readonly #waiting = new Set<(wasAway: boolean) => void>()

  /** The node answers again. `wasAway`: a question before had no answer at all; otherwise this one came late. */
  beat(wasAway: boolean): void {
    for (const run of [...this.#waiting]) run(wasAway)
  }

  /** Runs `run` at every beat, until the returned function is called. */
  onBeat(run: (wasAway: boolean) => void): () => void {
    this.#waiting.add(run)
    return () => void this.#waiting.delete(run)
  }

  /** Resolves after the delay, at the next beat, or when the signal aborts. */
  async sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    const wake = () => woken.abort()
    const forget = this.onBeat(wake)
    signal.addEventListener('abort', wake, { once: true })
    if (signal.aborted) wake()
    await sleep(clock, delayMs, woken.signal)
    signal.removeEventListener('abort', wake)
    forget()
  }
}
