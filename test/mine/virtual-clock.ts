import type { Clock } from '../../src/core/clock.ts'

/** Time that passes only when told to; timers run in the order of their due times. */
export class VirtualClock implements Clock {
  #nowMs = 1_000_000
  readonly #timers = new Set<{ readonly dueMs: number; readonly run: () => void }>()

  wallMs = () => 1_700_000_000_000 + this.#nowMs
  monotonicMs = () => this.#nowMs

  after = (delayMs: number, run: () => void) => {
    const timer = { dueMs: this.#nowMs + delayMs, run }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  get pending(): number {
    return this.#timers.size
  }

  /** Lets time pass, and runs the timers that become due. */
  async pass(milliseconds: number): Promise<void> {
    const endMs = this.#nowMs + milliseconds
    for (;;) {
      await settle()
      const due = [...this.#timers].filter(({ dueMs }) => dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0]
      if (due === undefined) break
      this.#timers.delete(due)
      this.#nowMs = Math.max(this.#nowMs, due.dueMs)
      due.run()
    }
    this.#nowMs = endMs
    await settle()
  }
}

/** Lets promises that are ready run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
