/**
 * Long work in short slices, so that requests are served between them. The kinds of work take turns, and so do the works
 * of one kind: a small one does not wait for all of a large one.
 */

/** Work that yields wherever it may be interrupted. */
export type YieldingWork<T> = Generator<undefined, T>

/** How long work goes on before waiting requests are served. */
const SLICE_MS = 2

interface Turn {
  readonly steps: YieldingWork<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export class TimeSlicer {
  /** Kind -> what waits. The kind whose turn comes next is first, and so is its next work. */
  readonly #waiting = new Map<string, Turn[]>()
  #next: NodeJS.Immediate | null = null
  readonly #nowMs: () => number

  /** `nowMs` measures the slices. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Begins in the next turn. Rejects with what the work throws. */
  run<T>(kind: string, steps: YieldingWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const jobs = this.#waiting.get(kind) ?? []
      jobs.push({ steps, resolve, reject })
      this.#waiting.set(kind, jobs)
      this.#plan()
    })
  }

  /** Leaves all that waits as it is: nobody waits for it any more. */
  stop(): void {
    if (this.#next !== null) clearImmediate(this.#next)
    this.#waiting.clear()
  }

  // Not unref(): without another event the loop would sleep over it.
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

/** One step of a job. */
function hasEnded({ steps, resolve, reject }: Turn): boolean {
  try {
    const { done, value } = steps.next()
    if (done) resolve(value as never)
    return done === true
  } catch (error) {
    reject(error)
    return true
  }
}
