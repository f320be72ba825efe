/** One after the other, in the order of arrival. */
import { OrderRefused } from './order-refused.ts'

const MAX_WAITING = 64

export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** Runs `run` when everything before it is over. Throws OrderRefused when too many wait. */
  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) throw new OrderRefused({ kind: 'too-many-waiting', waiting: MAX_WAITING })
    this.#waiting++
    const result = this.#last.then(run)
    // How it ends is the caller's concern; the next one comes either way.
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
