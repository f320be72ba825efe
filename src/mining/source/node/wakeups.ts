/** Wakes everything that waits for a node as soon as it answers again. */
import { type Clock, sleep } from '#ground/base/clock.ts'
import { withFirstOf } from '#ground/base/signals.ts'

export class Wakeups {
  readonly #waiting = new Set<(wasAway: boolean) => void>()

  /**
   * Call it when the node answers again.
   * @param wasAway whether an earlier question got no answer at all, or only a late one
   */
  wake(wasAway: boolean): void {
    for (const run of [...this.#waiting]) run(wasAway)
  }

  /**
   * Calls `run` whenever the node answers again.
   * @returns a function that ends this
   */
  onBack(run: (wasAway: boolean) => void): () => void {
    this.#waiting.add(run)
    return () => void this.#waiting.delete(run)
  }

  /** Resolves after the delay, when the node answers again, or when the signal aborts. */
  async sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    const forget = this.onBack(() => woken.abort())
    await withFirstOf([signal, woken.signal], (ends) => sleep(clock, delayMs, ends))
    forget()
  }
}
