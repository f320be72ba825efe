/** Wakes everybody who waits for a node once it answers again, so that nobody sleeps on after an outage. */
import { type Clock, sleep } from '../../core/clock.ts'

export class Wakeups {
  readonly #waiting = new Set<(wasAway: boolean) => void>()

  /** The node answers again. `wasAway`: a question before had no answer at all; otherwise this one came late. */
  wake(wasAway: boolean): void {
    for (const run of [...this.#waiting]) run(wasAway)
  }

  /** Runs `run` whenever the node answers again, until the returned function is called. */
  onBack(run: (wasAway: boolean) => void): () => void {
    this.#waiting.add(run)
    return () => void this.#waiting.delete(run)
  }

  /** Resolves after the delay, when the node answers again, or when the signal aborts. */
  async sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    const wake = () => woken.abort()
    const forget = this.onBack(wake)
    signal.addEventListener('abort', wake, { once: true })
    if (signal.aborted) wake()
    await sleep(clock, delayMs, woken.signal)
    signal.removeEventListener('abort', wake)
    forget()
  }
}
