/** One after the other, in the order of arrival. */
import { OrderRefused } from './block-maker.ts'

/** Most that wait. */
const WAITING_LIMIT = 64

export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** Runs `run` when everything before it is over. Throws OrderRefused when too many wait. */
  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#waiting >= WAITING_LIMIT) {
      throw new OrderRefused(503, `${WAITING_LIMIT} calls of this kind wait for their turn: try again later`)
    }
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
