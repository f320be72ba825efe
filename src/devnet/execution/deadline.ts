/** Deadline of a command in processor time. */

/** Most processor time of a command. */
const MAX_CPU_MS = 2000
/** A command may take longer on a busy machine, but not for ever. */
const MAX_WALL_MS = 20_000
/** Least time between two looks at the clock. */
const LEAST_WAIT_MS = 50

/**
 * Calls `onOver` after 2 s of processor time of this process, or another limit. That is at least the time of the command.
 * Not all supported versions of Node tell the processor time of a thread.
 */
export class Deadline {
  readonly #onOver: () => void
  readonly #mostMs: number
  readonly #cpu = process.cpuUsage()
  readonly #startMs = performance.now()
  #timer: NodeJS.Timeout

  /** @param mostMs most processor time */
  constructor(onOver: () => void, mostMs = MAX_CPU_MS) {
    this.#onOver = onOver
    this.#mostMs = mostMs
    this.#timer = this.#after(mostMs)
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }

  #after(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    const { user, system } = process.cpuUsage(this.#cpu)
    const leftMs = this.#mostMs - (user + system) / 1000
    if (leftMs <= 0 || performance.now() - this.#startMs >= MAX_WALL_MS) this.#onOver()
    else this.#timer = this.#after(Math.max(LEAST_WAIT_MS, leftMs / 2))
  }
}
