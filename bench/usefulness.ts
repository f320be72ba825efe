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

interface Moment {
  readonly type: 'cut' | 'work'
  readonly chain: number
  readonly height: number
  readonly atMs: number
}

interface Loss {
  readonly fromMs: number
  /** When news of the cut can have arrived at the earliest. */
  readonly newsAtMs: number
  readonly toMs: number
}

/** Follows the cuts of a node and the work that a miner searches. All times in milliseconds on one clock, in any order. */
export class Usefulness {
  /** The shortest time in which news of a cut can reach the miner. */
  readonly #newsMs: number
  readonly #moments: Moment[] = []
  #chain: number | null = null
  #startMs = 0

  constructor(newsMs: number) {
    this.#newsMs = newsMs
  }

  /** The chain that is searched; null before the first work. */
  get chain(): number | null {
    return this.#chain
  }

  /** The chain got a block of this height. Those of another process may be told of late. */
  cut(chain: number, height: number, atMs: number): void {
    this.#moments.push({ type: 'cut', chain, height, atMs })
  }

  /** From now on a block of this chain and height is searched for. */
  work(chain: number, height: number, atMs: number): void {
    this.#chain = chain
    this.#moments.push({ type: 'work', chain, height, atMs })
  }

  /** Begins a stretch. */
  start(atMs: number): void {
    this.#startMs = atMs
  }

  /** Ends it. All cuts in it must have been told of. */
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
    /** Chain -> its head, and when that came. */
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
