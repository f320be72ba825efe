/** Which hashing was useful: a solution could still become a block when it was searched for. */

/** What a stretch of hashing was good for. */
export interface Use {
  /** Share of the time in which a solution could have become a block, in per cent. */
  readonly usefulOfAll: number
  /** The same share of the time that is left when that is taken out in which no news can have arrived. */
  readonly usefulOfPossible: number
  /** How long each loss lasted: from the cut until other work was searched. */
  readonly lostMs: number[]
}

/** Follows the cuts of a node and the work that a miner searches. All times in milliseconds on one clock. */
export class Usefulness {
  /** The shortest time in which news of a cut can reach the miner. */
  readonly #newsMs: number
  /** Chain -> its head, and when that came. */
  readonly #heads = new Map<number, { readonly height: number; readonly atMs: number }>()
  #searched: { readonly chain: number; readonly height: number } | null = null
  /** Since when the work that is searched has been of no use; null: it is of use. */
  #uselessSinceMs: number | null = null
  #startMs = 0
  #lostMs: number[] = []
  #unavoidableMs = 0

  constructor(newsMs: number) {
    this.#newsMs = newsMs
  }

  /** The chain that is searched; null before the first work. */
  get chain(): number | null {
    return this.#searched?.chain ?? null
  }

  /** The chain got a block of this height. */
  cut(chain: number, height: number, atMs: number): void {
    this.#heads.set(chain, { height, atMs })
    if (this.#searched?.chain === chain && this.#searched.height <= height) this.#uselessSinceMs ??= atMs
  }

  /** From now on a block of this chain and height is searched for. */
  work(chain: number, height: number, atMs: number): void {
    this.#count(atMs)
    this.#searched = { chain, height }
    const head = this.#heads.get(chain)
    this.#uselessSinceMs = head !== undefined && head.height >= height ? atMs : null
  }

  /** Begins a stretch. */
  start(atMs: number): void {
    this.#startMs = atMs
    this.#lostMs = []
    this.#unavoidableMs = 0
    if (this.#uselessSinceMs !== null) this.#uselessSinceMs = atMs
  }

  /** Ends it. */
  end(atMs: number): Use {
    this.#count(atMs)
    if (this.#uselessSinceMs !== null) this.#uselessSinceMs = atMs
    const totalMs = atMs - this.#startMs
    const lost = this.#lostMs.reduce((sum, ms) => sum + ms, 0)
    const usefulOfAll = 100 * (1 - lost / totalMs)
    const usefulOfPossible = (100 * (totalMs - lost)) / (totalMs - this.#unavoidableMs)
    return { usefulOfAll, usefulOfPossible, lostMs: this.#lostMs }
  }

  /** Adds what has been lost until now. */
  #count(atMs: number): void {
    if (this.#uselessSinceMs === null || this.#searched === null) return
    this.#lostMs.push(atMs - this.#uselessSinceMs)
    const newsAtMs = (this.#heads.get(this.#searched.chain)?.atMs ?? 0) + this.#newsMs
    this.#unavoidableMs += Math.max(0, Math.min(atMs, newsAtMs) - this.#uselessSinceMs)
  }
}
