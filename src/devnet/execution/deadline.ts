/** Deadline of a command in processor time. */

/** A command may take longer on a busy machine, but not for ever. */
const MAX_WALL_MS = 20_000
/** Least time between two looks at the clock. */
const LEAST_WAIT_MS = 50

/**
 * Calls `onOver` after some processor time of this process, which is at least that of the command. Not all supported
 * versions of Node tell the processor time of a thread.
 */
export class Deadline {
  readonly #onOver: () => void
  readonly #cpuMs: number
  readonly #cpu = process.cpuUsage()
  readonly #startMs = performance.now()
  #timer: NodeJS.Timeout

  constructor(cpuMs: number, onOver: () => void) {
    this.#cpuMs = cpuMs
    this.#onOver = onOver
    this.#timer = this.#after(cpuMs)
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }

  #after(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    const { user, system } = process.cpuUsage(this.#cpu)
    const leftMs = this.#cpuMs - (user + system) / 1000
    if (leftMs <= 0 || performance.now() - this.#startMs >= MAX_WALL_MS) this.#onOver()
    else this.#timer = this.#after(Math.max(LEAST_WAIT_MS, leftMs / 2))
  }
}
