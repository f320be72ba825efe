/** What the search has found so far, and whether that is much for its hashes. */

/** A solution, by how hard its hash was to find. */
export interface RankedSolution {
  /** Hashes that one as low takes on average. */
  readonly difficulty: number
  readonly chain: number
  readonly height: number
  readonly device: string
}

export interface ResultsSnapshot {
  /** Solutions that the hashes of this run yield on average. */
  readonly expected: number
  /** Solutions that were found. */
  readonly found: number
  /** Expected solutions since the last one was found. */
  readonly effort: number
  /** The ten of the highest difficulty, the best first. */
  readonly best: readonly RankedSolution[]
}

const MAX_BEST = 10

export class Results {
  #expected = 0
  #effort = 0
  #found = 0
  #best: readonly RankedSolution[] = []

  /** Hashes were done at this difficulty. */
  search(hashes: number, difficulty: number): void {
    this.#expected += hashes / difficulty
    this.#effort += hashes / difficulty
  }

  /** Hashes that search() was told of were done in vain: they count no more. */
  forget(hashes: number, difficulty: number): void {
    this.#expected = Math.max(0, this.#expected - hashes / difficulty)
    this.#effort = Math.max(0, this.#effort - hashes / difficulty)
  }

  /** A solution was found. Returns the effort that it took. */
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
