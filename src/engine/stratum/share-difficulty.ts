/** How hard the shares of a session are: what the rig was told, from which job on, and what fits its pace. */

import { targetWords } from '../../core/pow.ts'
import { targetOfShares } from '../../stratum/targets.ts'
import { adjusted, shared, type Vardiff, vardiff } from '../../stratum/vardiff.ts'
import type { RigJob } from './jobs.ts'

/** Hashes: the easiest shares. A slower rig hands in fewer than one in ten seconds. */
export const LEAST_DIFFICULTY = 2 ** 16
/** Hashes: the hardest first shares. */
export const MOST_DIFFICULTY = 2 ** 56
/** A share in seconds to minutes for processors and graphics cards; faster ones get harder shares after eight. */
const START = 2 ** 28
/** ASICs have 1 to 170 TH/s. */
const START_OF_ASIC = 2 ** 40
const ASICS = /kdaminer|goldshell|ibelink|bm-k|antminer|bmminer|cgminer/i
/** So many changes are remembered, for shares of jobs that were handed out before. */
const MAX_TOLD = 8

/** What the rig was told, which holds from a job on. */
export interface Told {
  readonly from: number
  readonly target: bigint
  readonly targetWords: Uint32Array
  readonly difficulty: number
  /** Whether it is the target of blocks. */
  readonly isBlock: boolean
}

/** Difficulty of the first shares of a rig whose program says this of itself. */
export function startDifficulty(agent: string): number {
  return ASICS.test(agent) ? START_OF_ASIC : START
}

export class ShareDifficulty {
  #pace: Vardiff
  #told: readonly Told[] = []

  constructor(difficulty: number, nowMs: number) {
    this.#pace = vardiff(difficulty, nowMs)
  }

  /** What fits the pace, whatever the work. */
  get wanted(): number {
    return this.#pace.difficulty
  }

  /** Replaces what fits, kept within bounds. */
  suggest(difficulty: number, nowMs: number): void {
    this.#pace = vardiff(Math.min(MOST_DIFFICULTY, Math.max(LEAST_DIFFICULTY, difficulty)), nowMs)
  }

  /** A share came. */
  count(): void {
    this.#pace = shared(this.#pace)
  }

  /** Whether another difficulty fits by now; never one above that of a block. */
  adjust(nowMs: number, most: number): boolean {
    const before = this.#pace.difficulty
    this.#pace = adjusted(this.#pace, nowMs, { least: LEAST_DIFFICULTY, most })
    return this.#pace.difficulty !== before
  }

  /** The target of the shares of a job that is about to be sent, where the rig has to be told another; else null. */
  tell(job: RigJob): bigint | null {
    const isBlock = job.difficulty <= this.#pace.difficulty
    const difficulty = isBlock ? job.difficulty : this.#pace.difficulty
    const last = this.#told.at(-1)
    // The same difficulty is the same target, but for that of blocks, which is rounded.
    if (!isBlock && last?.difficulty === difficulty && !last.isBlock) return null
    const target = isBlock ? job.target : targetOfShares(difficulty)
    if (last?.target === target) return null
    const next: Told = { from: job.number, target, targetWords: targetWords(target), difficulty, isBlock }
    this.#told = [...this.#told, next].slice(-MAX_TOLD)
    return target
  }

  /** What held for a job; undefined: the rig was told nothing by then. */
  heldFor({ number }: RigJob): Told | undefined {
    return this.#told.findLast(({ from }) => from <= number)
  }
}
