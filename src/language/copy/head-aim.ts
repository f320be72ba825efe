/**
 * Guesses how deep below the head of a chain the pinned block will be when a question arrives. Nodes run read-only code at
 * a depth below their head, and the head moves while a question is on its way: perhaps many times, if blocks are fast.
 */

/** Misses after which guesses spread around the expected depth: the head does not move evenly. */
const STEADY_MISSES = 4

/** Depths that one question has seen. */
export interface SeenDepths {
  /** Misses of the question so far. */
  readonly misses: number
  readonly first: number | null
}

export const NOTHING_SEEN: SeenDepths = { misses: 0, first: null }

export class HeadDepthGuess {
  /** Blocks between the pin and the head at the last answer; null if not known. */
  #depth: number | null
  /** Blocks by which the head moves from one answer to the next. */
  #lead = 0

  constructor(depth: number | null) {
    this.#depth = depth
  }

  get isKnown(): boolean {
    return this.#depth !== null
  }

  /** Forgets the depth after wrong or refused answers: the next question begins with the head that the node names. */
  forget(): void {
    this.#depth = null
    this.#lead = 0
  }

  /** Notes the depth of the pinned block in the newest answer. */
  noteDepth(depth: number): void {
    this.#depth = depth
  }

  /** The depth of the last answer. The next code runs there or deeper, unless the chain is reorganised. */
  get last(): number {
    return this.#depth ?? 0
  }

  /** The depth for the next attempt of a question. */
  next(misses: number): number {
    return Math.max(0, this.last + this.#lead + this.#spread(misses - STEADY_MISSES))
  }

  /**
   * Notes a miss.
   * @param depth depth of the pinned block when the node answered
   * @returns what the question has seen now
   */
  noteMiss(depth: number, { misses, first }: SeenDepths): SeenDepths {
    this.#depth = depth
    if (first === null) return { misses: misses + 1, first: depth }
    this.#lead = Math.max(0, Math.round((depth - first) / misses))
    return { misses: misses + 1, first }
  }

  /** 0, 1, -1, 2, -2, and so on, and from the beginning: twice the usual deviation of blocks that come by chance. */
  #spread(attempt: number): number {
    if (attempt < 0) return 0
    const widest = 1 + Math.ceil(2 * Math.sqrt(this.#lead))
    const step = attempt % (2 * widest + 1)
    return step % 2 === 1 ? (step + 1) / 2 : -step / 2
  }
}
