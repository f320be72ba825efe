/** Runs tasks one at a time, in order of arrival. */
import { OrderRefused } from './order-refused.ts'

/** Most tasks, the running one included. */
const MAX_WAITING = 64

export class Queue {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** Runs `run` after all earlier tasks. Throws OrderRefused if too many wait. */
  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) throw new OrderRefused({ kind: 'too-many-waiting', waiting: MAX_WAITING })
    this.#waiting++
    const result = this.#last.then(run)
    // A failure goes to the caller; the next task runs either way.
    this.#last = result.then(
      () => undefined,
      () => undefined,
    )
    try {
      return await result
    } finally {
      this.#waiting--
    }
  }
}
