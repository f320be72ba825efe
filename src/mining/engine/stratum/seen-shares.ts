/** The nonces of a session's shares by job, in bounded memory. */
import type { RigJob } from './jobs.ts'

/** Number of jobs whose shares are remembered. Shares of older jobs are stale. */
const MAX_JOBS_WITH_SHARES = 16
const NO_SHARES: ReadonlySet<number | string> = new Set()

export class SeenShares {
  readonly #sharesPerJob: number
  /** Job -> nonces of its shares, or null if there were too many. */
  readonly #shares = new Map<number, Set<number | string> | null>()
  /** Shares of all earlier jobs are evicted. */
  #firstJob = 0

  /** @param sharesPerJob maximum number of remembered shares per job */
  constructor(sharesPerJob: number) {
    this.#sharesPerJob = sharesPerJob
  }

  /** The nonces of a job's shares, or null if they are evicted: further shares of the job are then stale. */
  sharesOf({ number }: RigJob): ReadonlySet<number | string> | null {
    if (number < this.#firstJob) return null
    const shares = this.#shares.get(number)
    return shares === undefined ? NO_SHARES : shares
  }

  /**
   * Adds a share.
   * @returns true if the job now has too many, so that the rig needs a fresh one
   */
  add({ number }: RigJob, nonce: number | string): boolean {
    const shares = this.#shares.get(number) ?? new Set()
    const isFull = shares.add(nonce).size > this.#sharesPerJob
    this.#shares.set(number, isFull ? null : shares)
    if (this.#shares.size > MAX_JOBS_WITH_SHARES) {
      const oldest = Math.min(...this.#shares.keys())
      this.#shares.delete(oldest)
      this.#firstJob = oldest + 1
    }
    return isFull
  }
}
