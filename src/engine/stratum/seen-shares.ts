/** The nonces of a session's shares, by job: neither the jobs nor the nonces grow without bound. */
import type { RigJob } from './jobs.ts'

/** Jobs of which the shares are remembered. Those of older ones are stale. */
const MAX_JOBS_WITH_SHARES = 16
const NO_SHARES: ReadonlySet<number> = new Set()

export class SeenShares {
  readonly #sharesPerJob: number
  /** Job -> nonces of its shares; null: they were too many, and are forgotten. */
  readonly #shares = new Map<number, Set<number> | null>()
  /** The shares of all earlier jobs are forgotten. */
  #firstJob = 0

  /** `sharesPerJob`: most shares of a job that are remembered. */
  constructor(sharesPerJob: number) {
    this.#sharesPerJob = sharesPerJob
  }

  /** The nonces of a job's shares so far; null: they are forgotten, and what follows is stale. */
  of({ number }: RigJob): ReadonlySet<number> | null {
    if (number < this.#firstJob) return null
    const shares = this.#shares.get(number)
    return shares === undefined ? NO_SHARES : shares
  }

  /** True: they are too many for this job now, and the rig needs a fresh one. */
  add({ number }: RigJob, nonce2: number): boolean {
    const shares = this.#shares.get(number) ?? new Set()
    const isFull = shares.add(nonce2).size > this.#sharesPerJob
    this.#shares.set(number, isFull ? null : shares)
    if (this.#shares.size > MAX_JOBS_WITH_SHARES) {
      const oldest = Math.min(...this.#shares.keys())
      this.#shares.delete(oldest)
      this.#firstJob = oldest + 1
    }
    return isFull
  }
}
