/**
 * Runs long work in short slices, and serves requests between them. The kinds of work take turns, and so do the works
 * of one kind, so that a small one does not wait for all of a large one.
 */

/** Work that yields wherever it may be interrupted. */
export type YieldingWork<T> = Generator<undefined, T>

/** Length of a slice. */
const SLICE_MS = 2

interface Task {
  readonly steps: YieldingWork<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export class TimeSlicer {
  /** Kind -> waiting work. The next kind comes first, and so does its next work. */
  readonly #waiting = new Map<string, Task[]>()
  #next: NodeJS.Immediate | null = null
  readonly #nowMs: () => number

  /** @param nowMs clock that measures the slices */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Begins in the next turn of the event loop. Rejects with the error of the work. */
  run<T>(kind: string, steps: YieldingWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const jobs = this.#waiting.get(kind) ?? []
      jobs.push({ steps, resolve, reject })
      this.#waiting.set(kind, jobs)
      this.#plan()
    })
  }

  /** Drops all waiting work. Its promises never settle. */
  stop(): void {
    if (this.#next !== null) clearImmediate(this.#next)
    this.#waiting.clear()
  }

  // No unref(): an unreferenced immediate does not wake an idle event loop.
  #plan(): void {
    this.#next ??= setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#next = null
    const [first] = this.#waiting
    if (first === undefined) return
    const [kind, jobs] = first
    const endMs = this.#nowMs() + SLICE_MS
    let isBegun = false
    while (jobs.length > 0 && this.#nowMs() < endMs) {
      isBegun = !hasEnded(jobs[0])
      if (!isBegun) jobs.shift()
    }
    if (isBegun) jobs.push(...jobs.splice(0, 1))
    // The other kinds come first now.
    this.#waiting.delete(kind)
    if (jobs.length > 0) this.#waiting.set(kind, jobs)
    if (this.#waiting.size > 0) this.#plan()
  }
}

/** Runs one step of a job. @returns whether the job has ended */
function hasEnded({ steps, resolve, reject }: Task): boolean {
  try {
    const { done, value } = steps.next()
    if (done) resolve(value as never)
    return done === true
  } catch (error) {
    reject(error)
    return true
  }
}

/** Runs work without interruptions. */
export function runAtOnce<T>(steps: YieldingWork<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
