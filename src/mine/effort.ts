/** Books hashes to the jobs they are spent on: the effort of each solution, and the luck of the run. */
import type { Pursuit } from './issued.ts'
import { type RankedSolution, Results, type ResultsSnapshot } from './results.ts'

export class Effort {
  readonly #hashes: () => number
  readonly #results = new Results()
  #pursuit: Pursuit | null = null
  /** The hashes that are booked. */
  #booked = 0

  /** `hashes`: of all engines since the start; never falls. */
  constructor(hashes: () => number) {
    this.#hashes = hashes
  }

  /** From now on hashes go to this job. null: to none. */
  pursue(pursuit: Pursuit | null): void {
    this.#book()
    if (this.#pursuit !== null) this.#pursuit.leftAtHashes = this.#booked
    if (pursuit !== null) pursuit.leftAtHashes = null
    this.#pursuit = pursuit
  }

  /**
   * A solution was found. `hashesSince`: hashes between finding it and now. They were in vain, as are those between the
   * solution and the next job, and count for neither. Returns its effort.
   */
  found(pursuit: Pursuit, share: RankedSolution, hashesSince: number): number {
    // A job with many solutions is searched on.
    this.#forget(pursuit, pursuit.job.manySolutions ? 0 : hashesSince)
    return this.#results.add(share)
  }

  /** A solution was found that is not wanted, since enough are on their way: its job is searched in vain. */
  unwanted(pursuit: Pursuit, hashesSince: number): void {
    this.#forget(pursuit, hashesSince)
    if (pursuit === this.#pursuit) this.pursue(null)
  }

  snapshot(): ResultsSnapshot {
    this.#book()
    return this.#results.snapshot()
  }

  /** Of the hashes since then, those that were spent on the job. */
  #forget({ difficulty, leftAtHashes }: Pursuit, hashesSince: number): void {
    this.#book()
    const hashes = hashesSince - (this.#booked - (leftAtHashes ?? this.#booked))
    if (hashes > 0 && difficulty > 0) this.#results.forget(hashes, difficulty)
  }

  #book(): void {
    const hashes = this.#hashes()
    const pursuit = this.#pursuit
    if (pursuit !== null && !pursuit.solved && pursuit.difficulty > 0) {
      this.#results.search(hashes - this.#booked, pursuit.difficulty)
    }
    this.#booked = hashes
  }
}
