/** Runs tasks one at a time, in order of arrival. */
import { ControlError } from './control-error.ts'

/** Maximum tasks, the running one included. A script that calls in a loop must not fill the memory of the node. */
const MAX_WAITING = 64

export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** Runs `run` after all earlier tasks. @throws ControlError if too many wait */
  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) throw new ControlError({ kind: 'too-many-waiting', waiting: MAX_WAITING })
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
