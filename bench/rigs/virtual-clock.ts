/** Time that passes only when told to. */
import type { Clock } from '../../src/ground/base/clock.ts'

interface Timer {
  readonly dueMs: number
  /** Timers with the same due time run in the order of creation. */
  readonly number: number
  readonly run: () => void
  isCancelled: boolean
}

/** Virtual time that advances only on demand; timers run in order of their due times. */
export class VirtualClock implements Clock {
  #nowMs: number
  #set = 0
  #pending = 0
  /** A binary heap, 1-based: no timer is due before its parent at half the index. */
  readonly #timers: Timer[] = []

  /** @param startMs monotonic time at the start; the wall clock is 1,700,000,000 s later */
  constructor(startMs = 1_000_000) {
    this.#nowMs = startMs
  }

  wallMs = () => 1_700_000_000_000 + this.#nowMs
  monotonicMs = () => this.#nowMs

  after = (delayMs: number, run: () => void) => {
    const timer: Timer = { dueMs: this.#nowMs + delayMs, number: this.#set++, run, isCancelled: false }
    this.#push(timer)
    this.#pending++
    return () => {
      if (timer.isCancelled) return
      timer.isCancelled = true
      this.#pending--
    }
  }

  get pending(): number {
    return this.#pending
  }

  /** Advances time and runs due timers. */
  async pass(milliseconds: number): Promise<void> {
    const endMs = this.#nowMs + milliseconds
    for (;;) {
      await settle()
      const due = this.#next()
      if (due === undefined || due.dueMs > endMs) break
      this.#pop()
      due.isCancelled = true
      this.#pending--
      this.#nowMs = Math.max(this.#nowMs, due.dueMs)
      due.run()
    }
    this.#nowMs = endMs
    await settle()
  }

  #next(): Timer | undefined {
    while (this.#timers[1]?.isCancelled) this.#pop()
    return this.#timers[1]
  }

  #push(timer: Timer): void {
    const timers = this.#timers
    let at = Math.max(1, timers.length)
    timers[at] = timer
    for (let above = at >> 1; above > 0 && isBefore(timer, timers[above]); above = at >> 1) {
      timers[at] = timers[above]
      timers[above] = timer
      at = above
    }
  }

  #pop(): void {
    const timers = this.#timers
    const last = timers.pop() as Timer
    if (timers.length <= 1) return
    timers[1] = last
    for (let at = 1; ; ) {
      const [left, right] = [2 * at, 2 * at + 1]
      if (left >= timers.length) return
      const least = right < timers.length && isBefore(timers[right], timers[left]) ? right : left
      if (!isBefore(timers[least], last)) return
      timers[at] = timers[least]
      timers[least] = last
      at = least
    }
  }
}

const isBefore = (a: Timer, b: Timer) => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.number < b.number)

/** Lets resolved promises run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}
