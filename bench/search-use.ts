/** Finds the useful hashes of search threads: a solution among them could still have become a block. */
import type { Slice } from './slices.ts'
import type { Use } from './usefulness.ts'

interface Given {
  readonly chain: number
  readonly height: number
}

/**
 * Follows a node's cuts and the slices of a miner's threads, in milliseconds on one clock. A thread that the system
 * suspends hashes nothing, so it wastes nothing. A thread without work loses the hashes that it would have computed.
 */
export class SearchUse {
  /** The minimum latency of news of a cut. */
  readonly #newsMs: number
  /** Sequence -> its work. */
  readonly #given = new Map<number, Given>()
  /** Chain -> its new heights with times. */
  readonly #cuts = new Map<number, { readonly height: number; readonly atMs: number }[]>()
  readonly #slices: Slice[] = []
  #chain: number | null = null
  #startMs = 0

  constructor(newsMs: number) {
    this.#newsMs = newsMs
  }

  /** The chain of the newest work, or null before the first. */
  get chain(): number | null {
    return this.#chain
  }

  /** Records a new block. Blocks of another process may be recorded late. */
  cut(chain: number, height: number, atMs: number): void {
    const cuts = this.#cuts.get(chain) ?? []
    this.#cuts.set(chain, cuts)
    cuts.push({ height, atMs })
  }

  /** Records the chain and height of the work under this sequence. */
  give(sequence: number, chain: number, height: number): void {
    this.#chain = chain
    this.#given.set(sequence, { chain, height })
  }

  addSlices(slices: readonly Slice[]): void {
    for (const slice of slices) this.#slices.push(slice)
  }

  /** Starts a measurement. */
  start(atMs: number): void {
    this.#startMs = atMs
  }

  /** Whether any recorded hash precedes `endMs`. */
  hasHashed(endMs: number): boolean {
    return this.#slices.some(({ hashes, fromMs, toMs }) => hashes !== null && toMs > this.#startMs && fromMs < endMs)
  }

  /**
   * Ends the measurement, after all its cuts and slices were recorded.
   * @throws if nothing was hashed
   */
  end(endMs: number): Use {
    const startMs = this.#startMs
    const deaths = new Map([...this.#given].map(([sequence, given]) => [sequence, this.#deathOf(given)]))
    /** Thread -> hashes, search time and idle time. */
    const threads = new Map<number, { hashes: number; searchedMs: number; restedMs: number }>()
    /** Thread and sequence -> time wasted on it. */
    const lost = new Map<string, number>()
    let lostHashes = 0
    let unavoidable = 0
    for (const { thread, sequence, hashes, fromMs, toMs } of this.#slices) {
      const from = Math.max(fromMs, startMs)
      const to = Math.min(toMs, endMs)
      if (to <= from) continue
      const known = threads.get(thread) ?? { hashes: 0, searchedMs: 0, restedMs: 0 }
      threads.set(thread, known)
      if (hashes === null) {
        known.restedMs += to - from
        continue
      }
      const perMs = hashes / (toMs - fromMs)
      known.hashes += perMs * (to - from)
      known.searchedMs += to - from
      const deathMs = deaths.get(sequence) ?? Number.POSITIVE_INFINITY
      const deadFrom = Math.max(from, deathMs)
      if (to <= deadFrom) continue
      lostHashes += perMs * (to - deadFrom)
      unavoidable += perMs * Math.max(0, Math.min(to, deathMs + this.#newsMs) - deadFrom)
      const key = `${thread} ${sequence}`
      lost.set(key, (lost.get(key) ?? 0) + to - deadFrom)
    }
    let total = 0
    for (const { hashes, searchedMs, restedMs } of threads.values()) {
      const missed = searchedMs > 0 ? (hashes / searchedMs) * restedMs : 0
      total += hashes + missed
      lostHashes += missed
    }
    if (total === 0) throw new Error('nothing was hashed')
    const useful = total - lostHashes
    return {
      usefulOfAll: (100 * useful) / total,
      usefulOfPossible: (100 * useful) / (total - unavoidable),
      lostMs: [...lost.values()],
    }
  }

  /** Time when the chain reached this height. */
  #deathOf({ chain, height }: Given): number {
    const over = (this.#cuts.get(chain) ?? []).filter((cut) => cut.height >= height)
    return Math.min(Number.POSITIVE_INFINITY, ...over.map(({ atMs }) => atMs))
  }
}
