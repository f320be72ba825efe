/** Attributes hashes to the jobs that they are spent on: the effort of each solution and the luck of the run. */
import type { Pursuit } from './issued.ts'
import { type RankedSolution, Results, type ResultsSnapshot } from './results.ts'

export class Effort {
  readonly #hashes: () => number
  readonly #results = new Results()
  #pursuit: Pursuit | null = null
  /** Hashes attributed so far. */
  #booked = 0

  /** @param hashes returns the hashes of all engines since the start; never decreases */
  constructor(hashes: () => number) {
    this.#hashes = hashes
  }

  /** Attributes hashes to this job from now, or to none if null. */
  pursue(pursuit: Pursuit | null): void {
    this.#book()
    if (this.#pursuit !== null) this.#pursuit.leftAtHashes = this.#booked
    if (pursuit !== null) pursuit.leftAtHashes = null
    this.#pursuit = pursuit
  }

  /**
   * Records a solution. The hashes after it, up to the next job, are wasted and do not count as effort.
   * @param hashesSince hashes between finding the solution and now
   * @returns the effort of the solution
   */
  found(pursuit: Pursuit, share: RankedSolution, hashesSince: number): number {
    // Engines keep searching a job that has many solutions, so its later hashes count.
    this.#forget(pursuit, pursuit.job.manySolutions ? 0 : hashesSince)
    return this.#results.add(share)
  }

  /** Records a surplus solution, when enough are on their way. Later hashes on its job are wasted. */
  unwanted(pursuit: Pursuit, hashesSince: number): void {
    this.#forget(pursuit, hashesSince)
    if (pursuit === this.#pursuit) this.pursue(null)
  }

  snapshot(): ResultsSnapshot {
    this.#book()
    return this.#results.snapshot()
  }

  /** Subtracts those of the last `hashesSince` hashes that were spent on the job. */
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
