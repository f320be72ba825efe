/** Which hashes of search threads were useful: a solution among them could still have become a block. */
import type { Slice } from './slices.ts'
import type { Use } from './usefulness.ts'

interface Given {
  readonly chain: number
  readonly height: number
}

/**
 * Follows the cuts of a node and what each thread of a miner searched. All times in milliseconds on one clock. A thread
 * that the machine lets wait hashes nothing meanwhile, and so nothing in vain; one that has nothing to search loses the
 * hashes that it would have done.
 */
export class SearchUse {
  /** The shortest time in which news of a cut can reach the miner. */
  readonly #newsMs: number
  /** Sequence -> what is searched under it. */
  readonly #given = new Map<number, Given>()
  /** Chain -> the heights it got, and when. */
  readonly #cuts = new Map<number, { readonly height: number; readonly atMs: number }[]>()
  readonly #slices: Slice[] = []
  #chain: number | null = null
  #startMs = 0

  constructor(newsMs: number) {
    this.#newsMs = newsMs
  }

  /** The chain of the newest work; null before the first. */
  get chain(): number | null {
    return this.#chain
  }

  /** The chain got a block of this height. Those of another process may be told of late. */
  cut(chain: number, height: number, atMs: number): void {
    const cuts = this.#cuts.get(chain) ?? []
    this.#cuts.set(chain, cuts)
    cuts.push({ height, atMs })
  }

  /** Under this sequence, a block of this chain and height is searched for. */
  give(sequence: number, chain: number, height: number): void {
    this.#chain = chain
    this.#given.set(sequence, { chain, height })
  }

  searched(slices: readonly Slice[]): void {
    for (const slice of slices) this.#slices.push(slice)
  }

  /** Begins a stretch. */
  start(atMs: number): void {
    this.#startMs = atMs
  }

  /** Whether anything was hashed in it before `endMs`, as far as was told. */
  hasHashed(endMs: number): boolean {
    return this.#slices.some(({ hashes, fromMs, toMs }) => hashes !== null && toMs > this.#startMs && fromMs < endMs)
  }

  /** Ends it. All cuts and slices in it must have been told of. Throws when nothing was hashed. */
  end(endMs: number): Use {
    const startMs = this.#startMs
    const deaths = new Map([...this.#given].map(([sequence, given]) => [sequence, this.#deathOf(given)]))
    /** Thread -> its hashes, and how long it searched and had nothing to search. */
    const threads = new Map<number, { hashes: number; searchedMs: number; restedMs: number }>()
    /** Thread and sequence -> for how long it was searched in vain. */
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

  /** When the chain got a block of this height, or a higher one. */
  #deathOf({ chain, height }: Given): number {
    const over = (this.#cuts.get(chain) ?? []).filter((cut) => cut.height >= height)
    return Math.min(Number.POSITIVE_INFINITY, ...over.map(({ atMs }) => atMs))
  }
}
