/** Measures useful hashing: a solution could still have become a block at that time. */

/** The usefulness of a measurement. */
export interface Use {
  /** Share of useful time, in per cent. */
  readonly usefulOfAll: number
  /** Share of useful time in per cent, excluding time in which news could not have arrived. */
  readonly usefulOfPossible: number
  /** Durations of the losses: from the cut until other work was searched. */
  readonly lostMs: number[]
}

interface Moment {
  readonly type: 'cut' | 'work'
  readonly chain: number
  readonly height: number
  readonly atMs: number
}

interface Loss {
  readonly fromMs: number
  /** Earliest possible arrival of the news. */
  readonly newsAtMs: number
  readonly toMs: number
}

/** Follows a node's cuts and a miner's work. Times are in milliseconds on one clock, in any order. */
export class Usefulness {
  /** The minimum latency of news of a cut. */
  readonly #newsMs: number
  readonly #moments: Moment[] = []
  #chain: number | null = null
  #startMs = 0

  constructor(newsMs: number) {
    this.#newsMs = newsMs
  }

  /** The searched chain, or null before the first work. */
  get chain(): number | null {
    return this.#chain
  }

  /** Records a new block. Blocks of another process may be recorded late. */
  cut(chain: number, height: number, atMs: number): void {
    this.#moments.push({ type: 'cut', chain, height, atMs })
  }

  /** Records the chain and height that is searched from this time. */
  work(chain: number, height: number, atMs: number): void {
    this.#chain = chain
    this.#moments.push({ type: 'work', chain, height, atMs })
  }

  /** Starts a measurement. */
  start(atMs: number): void {
    this.#startMs = atMs
  }

  /** Ends the measurement, after all its cuts were recorded. */
  end(endMs: number): Use {
    const startMs = this.#startMs
    const lostMs: number[] = []
    let unavoidableMs = 0
    for (const { fromMs, newsAtMs, toMs } of this.#losses(endMs)) {
      const from = Math.max(fromMs, startMs)
      const to = Math.min(toMs, endMs)
      if (to <= from) continue
      lostMs.push(to - from)
      unavoidableMs += Math.max(0, Math.min(to, newsAtMs) - from)
    }
    const totalMs = endMs - startMs
    const lost = lostMs.reduce((sum, ms) => sum + ms, 0)
    const usefulOfAll = 100 * (1 - lost / totalMs)
    const usefulOfPossible = (100 * (totalMs - lost)) / (totalMs - unavoidableMs)
    return { usefulOfAll, usefulOfPossible, lostMs }
  }

  /** All losses until now. */
  *#losses(endMs: number): Generator<Loss> {
    /** Chain -> its head and the head's time. */
    const heads = new Map<number, Moment>()
    let searched: Moment | null = null
    let loss: Omit<Loss, 'toMs'> | null = null
    for (const moment of this.#moments.sort((a, b) => a.atMs - b.atMs)) {
      const { type, chain, height, atMs } = moment
      if (type === 'cut') {
        heads.set(chain, moment)
        if (searched?.chain === chain && searched.height <= height)
          loss ??= { fromMs: atMs, newsAtMs: atMs + this.#newsMs }
        continue
      }
      if (loss !== null) yield { ...loss, toMs: atMs }
      searched = moment
      const head = heads.get(chain)
      const isDead = head !== undefined && head.height >= height
      loss = isDead ? { fromMs: atMs, newsAtMs: head.atMs + this.#newsMs } : null
    }
    if (loss !== null) yield { ...loss, toMs: endMs }
  }
}
