/** How hard the shares of a session are: what the rig was told, from which job on, and what fits its pace. */

import { isAtMost, targetWords } from '../../core/pow.ts'
import { targetOfShares } from '../../stratum/targets.ts'
import {
  adjusted,
  heard,
  powerOfTwo,
  SOME_SHARES,
  sharedAll,
  sharesOf,
  type Vardiff,
  type VardiffBounds,
  vardiff,
} from '../../stratum/vardiff.ts'
import type { RigJob } from './jobs.ts'

/** Hashes: the easiest shares. A slower rig hands in fewer than one in ten seconds. */
export const LEAST_DIFFICULTY = 2 ** 16
/** Hashes: the hardest first shares. */
export const MOST_DIFFICULTY = 2 ** 56
/** Seconds for graphics cards. Processors get easier shares after half a minute, ASICs harder ones after nine. */
const START = 2 ** 32
/** Programs of ASICs -> difficulty of the first shares. */
const ASICS: readonly (readonly [RegExp, number])[] = [
  // Antminer KA3: a share in 1.7 s.
  [/godminer|ckbminer/i, 2 ** 48],
  [/kdaminer|bfgminer|goldshell|ibelink|bm-k|antminer|bmminer|sgminer|cgminer/i, 2 ** 44],
]
/** Chips of ASICs report no easier hashes, so an easier target changes nothing. */
const LEAST_OF_ASIC = 2 ** 40
/** How much easier shares get at a time for a rig of any other program that has handed in none. */
const FIRST_STEP = 8
/** So many changes are remembered, for shares of jobs that were handed out before. */
const MAX_TOLD = 8
/** Rigs apply a new target to the job they have, so for this time its shares may meet either. */
const OVERLAP_MS = 5_000
/** Shares are looked at by so many, or at the next look: a rig that is cut off for a moment hands in many at once. */
const BATCH = 3

/** What the rig was told, which holds from a job on. */
export interface Told {
  readonly from: number
  readonly atMs: number
  readonly target: bigint
  readonly targetWords: Uint32Array
  readonly difficulty: number
  /** Whether it is the target of blocks. */
  readonly isBlock: boolean
}

/** Difficulty of the first shares of a rig whose program says this of itself. */
export function startDifficulty(agent: string): number {
  return startOfAsic(agent) ?? START
}

/** null: the program is not one of an ASIC. */
function startOfAsic(agent: string): number | null {
  return ASICS.find(([pattern]) => pattern.test(agent))?.[1] ?? null
}

function boundsOf(agent: string): VardiffBounds {
  const start = startOfAsic(agent)
  if (start === null) return { least: LEAST_DIFFICULTY, leastAtFirst: LEAST_DIFFICULTY, firstStep: FIRST_STEP }
  return { least: LEAST_OF_ASIC, leastAtFirst: start, firstStep: 2 }
}

export class ShareDifficulty {
  #pace: Vardiff
  /** Shares that have not been looked at: how many, time of the first and last, hashes of the first and easiest other. */
  readonly #batch = new Float64Array(5)
  /** When the last share came, of whichever job. */
  #heardAtMs = Number.NEGATIVE_INFINITY
  #told: readonly Told[] = []
  #lasting: number

  /** `agent`: what the program of the rig says of itself. */
  constructor(difficulty: number, nowMs: number, agent = '') {
    this.#pace = vardiff(difficulty, nowMs, boundsOf(agent))
    this.#lasting = difficulty
  }

  /** What the rig was told last; null: nothing. */
  get told(): number | null {
    return this.#told.at(-1)?.difficulty ?? null
  }

  /** What fits the pace, whatever the work. */
  get wanted(): number {
    return this.#pace.difficulty
  }

  /** What fitted last while the rig handed in shares, or what it asked for: where it begins when it comes back. */
  get lasting(): number {
    return this.#lasting
  }

  /** Hashes a second, by the shares; null: not known. */
  get rate(): number | null {
    return this.#pace.rate
  }

  /** Whether the rig may be far faster than its difficulty says. */
  get isFlooding(): boolean {
    return this.#pace.isFlooding
  }

  /** Replaces what fits, kept within bounds: a power of two, below which it does not fall. */
  suggest(difficulty: number, nowMs: number): void {
    const next = powerOfTwo(Math.min(MOST_DIFFICULTY, Math.max(LEAST_DIFFICULTY, difficulty)))
    this.#batch[0] = 0
    this.#lasting = next
    this.#pace = vardiff(next, nowMs, { least: next, leastAtFirst: next, firstStep: 2 })
  }

  /** A share came. One of a job from before the present target says little of the pace. */
  count({ number }: RigJob, hash: Uint32Array, nowMs: number): void {
    this.#heardAtMs = nowMs
    const told = this.#told.at(-1)
    if (told === undefined || number < told.from) return
    // The rig is about to be told another one.
    if (!told.isBlock && told.difficulty !== this.#pace.difficulty) return
    const [batch, hashes] = [this.#batch, hashesOf(hash)]
    if (batch[0]++ === 0) {
      batch[1] = nowMs
      batch[2] = nowMs
      batch[3] = hashes
      batch[4] = Number.POSITIVE_INFINITY
    } else {
      batch[2] = nowMs
      batch[4] = Math.min(batch[4], hashes)
    }
  }

  /** Whether so many shares came that the difficulty should be looked at before the next look. */
  get isPressing(): boolean {
    return this.#batch[0] >= BATCH && sharesOf(this.#pace) + this.#batch[0] >= SOME_SHARES
  }

  /** Whether the rig should be told another difficulty by now; never one above that of a block. */
  adjust(nowMs: number, most: number): boolean {
    const before = this.#pace.difficulty
    const [shares, firstMs, lastMs, first, easiestAfter] = this.#batch
    if (shares > 0) this.#pace = sharedAll(this.#pace, { shares, firstMs, lastMs, first, easiestAfter })
    this.#batch[0] = 0
    this.#pace = adjusted(heard(this.#pace, this.#heardAtMs), nowMs)
    if (!this.#pace.isLowered) this.#lasting = this.#pace.difficulty
    return Math.min(most, this.#pace.difficulty) !== Math.min(most, before)
  }

  /** The target of the shares of a job that is about to be sent, where the rig has to be told another; else null. */
  tell(job: RigJob, nowMs: number): bigint | null {
    const isBlock = job.difficulty <= this.#pace.difficulty
    const difficulty = isBlock ? job.difficulty : this.#pace.difficulty
    const last = this.#told.at(-1)
    // The same difficulty is the same target, but for that of blocks, which is rounded.
    if (!isBlock && last?.difficulty === difficulty && !last.isBlock) return null
    const target = isBlock ? job.target : targetOfShares(difficulty)
    if (last?.target === target) return null
    const next = { from: job.number, atMs: nowMs, target, targetWords: targetWords(target), difficulty, isBlock }
    this.#told = [...this.#told, next].slice(-MAX_TOLD)
    return target
  }

  /** What held for a job; undefined: the rig was told nothing by then. */
  heldFor({ number }: RigJob): Told | undefined {
    return this.#told.findLast(({ from }) => from <= number)
  }

  /** Whether the hash meets the target that the rig had until a moment ago: it may not have applied that of the job yet. */
  metBefore({ number }: RigJob, hash: Uint32Array, nowMs: number): boolean {
    const index = this.#told.findLastIndex(({ from }) => from <= number)
    if (index <= 0 || nowMs - this.#told[index].atMs > OVERLAP_MS) return false
    return isAtMost(hash, this.#told[index - 1].targetWords)
  }

  /** Whether the hash meets a target that the rig was told a moment ago, while it had this job. */
  meetsLater({ number }: RigJob, hash: Uint32Array, nowMs: number): boolean {
    return this.#told.some(
      ({ from, atMs, targetWords: words }) => from > number && nowMs - atMs <= OVERLAP_MS && isAtMost(hash, words),
    )
  }
}

/** Hashes that a hash takes on average. */
function hashesOf(hash: Uint32Array): number {
  let value = 0
  for (let i = 7; i >= 0; i--) value = value * 2 ** 32 + hash[i]
  return 2 ** 256 / (value + 1)
}
