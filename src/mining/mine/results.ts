/** Solutions of this run, and how many its hashes yield on average. */

/** A solution with the difficulty of its hash. */
export interface RankedSolution {
  /** Mean number of hashes to find a hash as low as this one. */
  readonly difficulty: number
  readonly chain: number
  readonly height: number
  readonly device: string
}

export interface ResultsSnapshot {
  /** Mean number of solutions for the hashes of this run. */
  readonly expected: number
  /** Solutions found. */
  readonly found: number
  /** Expected solutions since the last one. */
  readonly effort: number
  /** The ten solutions of highest difficulty, the best first. */
  readonly best: readonly RankedSolution[]
}

/** Maximum number of listed solutions: the snapshot is sent often. */
const MAX_BEST = 10

export class Results {
  #expected = 0
  #effort = 0
  #found = 0
  #best: readonly RankedSolution[] = []

  /** Adds hashes at this difficulty. */
  search(hashes: number, difficulty: number): void {
    this.#expected += hashes / difficulty
    this.#effort += hashes / difficulty
  }

  /** Takes back hashes that search() counted, because they were wasted. */
  forget(hashes: number, difficulty: number): void {
    this.#expected = Math.max(0, this.#expected - hashes / difficulty)
    this.#effort = Math.max(0, this.#effort - hashes / difficulty)
  }

  /**
   * Adds a solution.
   * @returns the effort since the previous one
   */
  add(share: RankedSolution): number {
    this.#found++
    this.#best = [...this.#best, share].sort((a, b) => b.difficulty - a.difficulty).slice(0, MAX_BEST)
    const effort = this.#effort
    this.#effort = 0
    return effort
  }

  snapshot(): ResultsSnapshot {
    return { expected: this.#expected, found: this.#found, effort: this.#effort, best: this.#best }
  }
}
