/** Attributes hashes to the jobs that they are spent on: the effort of each solution and the luck of the run. */
import type { JobSearch } from './issued.ts'
import { type RankedSolution, Results, type ResultsSnapshot } from './results.ts'

export class BlockEffort {
  readonly #hashes: () => number
  readonly #results = new Results()
  #search: JobSearch | null = null
  /** Hashes attributed so far. */
  #attributed = 0

  /** @param hashes returns the hashes of all engines since the start; never decreases */
  constructor(hashes: () => number) {
    this.#hashes = hashes
  }

  /** Attributes hashes to this job from now, or to none if null. */
  attributeTo(pursuit: JobSearch | null): void {
    this.#attribute()
    if (this.#search !== null) this.#search.leftAtHashes = this.#attributed
    if (pursuit !== null) pursuit.leftAtHashes = null
    this.#search = pursuit
  }

  /**
   * Records a solution. The hashes after it, up to the next job, are wasted and do not count as effort.
   * @param hashesSince hashes between finding the solution and now
   * @returns the effort of the solution
   */
  recordSolution(pursuit: JobSearch, share: RankedSolution, hashesSince: number): number {
    // Engines keep searching a job that has many solutions, so its later hashes count.
    this.#forget(pursuit, pursuit.job.manySolutions ? 0 : hashesSince)
    return this.#results.add(share)
  }

  /** Records a surplus solution, when enough are on their way. Later hashes on its job are wasted. */
  recordSurplus(pursuit: JobSearch, hashesSince: number): void {
    this.#forget(pursuit, hashesSince)
    if (pursuit === this.#search) this.attributeTo(null)
  }

  snapshot(): ResultsSnapshot {
    this.#attribute()
    return this.#results.snapshot()
  }

  /** Subtracts those of the last `hashesSince` hashes that were spent on the job. */
  #forget({ difficulty, leftAtHashes }: JobSearch, hashesSince: number): void {
    this.#attribute()
    const hashes = hashesSince - (this.#attributed - (leftAtHashes ?? this.#attributed))
    if (hashes > 0 && difficulty > 0) this.#results.forget(hashes, difficulty)
  }

  #attribute(): void {
    const hashes = this.#hashes()
    const pursuit = this.#search
    if (pursuit !== null && !pursuit.solved && pursuit.difficulty > 0) {
      this.#results.search(hashes - this.#attributed, pursuit.difficulty)
    }
    this.#attributed = hashes
  }
}
