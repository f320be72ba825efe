/**
 * Share difficulty of a session: the targets that the rig got, the first job of each, and the difficulty for its share
 * rate.
 */

import { isAtMost, targetWords } from '#ground/chain/pow.ts'
import { targetOfShares } from '../../stratum/targets.ts'
import {
  adjust,
  powerOfTwo,
  recordEarlierShare,
  recordShares,
  SOME_SHARES,
  sharesInWindow,
  startVardiff,
  type Vardiff,
  type VardiffBounds,
} from '../../stratum/vardiff.ts'
import type { RigJob } from './jobs.ts'

/** Minimum difficulty in hashes. A slower rig submits less than one share in ten seconds. */
const MIN_DIFFICULTY = 2 ** 16
/** Maximum first difficulty in hashes: the fastest rig, at 166 TH/s, finds such a share in seven minutes. */
const MAX_DIFFICULTY = 2 ** 56
/**
 * First difficulty of other programs: a share takes seconds on a GPU. CPUs get easier shares after half a minute, ASICs
 * harder ones after nine seconds.
 */
const START_DIFFICULTY = 2 ** 32
/** ASIC programs -> difficulty of the first shares. */
const ASIC_STARTS: readonly (readonly [RegExp, number])[] = [
  // Antminer KA3: one share in 1.7 s.
  [/godminer|ckbminer/i, 2 ** 48],
  [/kdaminer|bfgminer|goldshell|ibelink|bm-k|antminer|bmminer|sgminer|cgminer/i, 2 ** 44],
]
/** ASIC chips report no easier hashes, so an easier target would change nothing. */
const MIN_ASIC_DIFFICULTY = 2 ** 40
/** Factor by which shares become easier at a time for other rigs without a share. */
const FIRST_STEP = 8
/** Number of remembered changes, for shares of earlier jobs. */
const MAX_SENT_TARGETS = 8
/** Rigs apply a new target to their current job, so for this time its shares may meet either. */
const OVERLAP_MS = 5_000
/**
 * Number of shares processed together, unless the next check comes first. After a short outage, a rig submits many at
 * once.
 */
const BATCH = 3

/** A target that the rig got, and its first job. */
interface SentTarget {
  readonly from: number
  readonly atMs: number
  readonly target: bigint
  readonly targetWords: Uint32Array
  readonly difficulty: number
  /** Whether it is the target of blocks. */
  readonly isBlock: boolean
}

/** Difficulty of a rig's first shares, from the name that its program reports. */
export function startDifficulty(agent: string): number {
  return startOfAsic(agent) ?? START_DIFFICULTY
}

/** @returns null if the program is not that of an ASIC */
function startOfAsic(agent: string): number | null {
  return ASIC_STARTS.find(([pattern]) => pattern.test(agent))?.[1] ?? null
}

function boundsOf(agent: string): VardiffBounds {
  const start = startOfAsic(agent)
  if (start === null) return { least: MIN_DIFFICULTY, leastAtFirst: MIN_DIFFICULTY, firstStep: FIRST_STEP }
  return { least: MIN_ASIC_DIFFICULTY, leastAtFirst: start, firstStep: 2 }
}

export class ShareDifficulty {
  #vardiff: Vardiff
  /** Unprocessed shares: number, times of first and last, hashes of the first and of the easiest other. */
  readonly #batch = new Float64Array(5)
  /** When the last share of any job arrived. */
  #heardAtMs = Number.NEGATIVE_INFINITY
  #sent: readonly SentTarget[] = []
  #lasting: number

  /** @param agent name that the program of the rig reports */
  constructor(difficulty: number, nowMs: number, agent = '') {
    this.#vardiff = startVardiff(difficulty, nowMs, boundsOf(agent))
    this.#lasting = difficulty
  }

  /** The last difficulty that the rig got, or null. */
  get sentDifficulty(): number | null {
    return this.#sent.at(-1)?.difficulty ?? null
  }

  /** The difficulty for its share rate, regardless of the work. */
  get wanted(): number {
    return this.#vardiff.difficulty
  }

  /**
   * The last difficulty that suited the rig while it submitted shares, or that it requested: where its next connection
   * starts.
   */
  get lasting(): number {
    return this.#lasting
  }

  /** Hashes per second by its shares, or null if unknown. */
  get rate(): number | null {
    return this.#vardiff.rate
  }

  /** Whether the rig may be far faster than its difficulty suggests. */
  get isFlooding(): boolean {
    return this.#vardiff.isFlooding
  }

  /** Sets the difficulty, rounded to a power of two within limits. It does not fall below this value. */
  suggest(difficulty: number, nowMs: number): void {
    const next = powerOfTwo(Math.min(MAX_DIFFICULTY, Math.max(MIN_DIFFICULTY, difficulty)))
    this.#batch[0] = 0
    this.#lasting = next
    this.#vardiff = startVardiff(next, nowMs, { least: next, leastAtFirst: next, firstStep: 2 })
  }

  /** Counts a share. Shares of jobs from before the current target say little about the share rate. */
  count({ number }: RigJob, hash: Uint32Array, nowMs: number): void {
    this.#heardAtMs = nowMs
    const last = this.#sent.at(-1)
    if (last === undefined || number < last.from) return
    // The rig is about to get another target.
    if (!last.isBlock && last.difficulty !== this.#vardiff.difficulty) return
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

  /** Whether enough shares arrived to adjust the difficulty before the next check. */
  get isPressing(): boolean {
    return this.#batch[0] >= BATCH && sharesInWindow(this.#vardiff) + this.#batch[0] >= SOME_SHARES
  }

  /**
   * Updates the difficulty for the share rate.
   * @param most difficulty of a block, the maximum
   * @returns true if the rig should get another target
   */
  adjust(nowMs: number, most: number): boolean {
    const before = this.#vardiff.difficulty
    const [shares, firstMs, lastMs, first, easiestAfter] = this.#batch
    if (shares > 0) this.#vardiff = recordShares(this.#vardiff, { shares, firstMs, lastMs, first, easiestAfter })
    this.#batch[0] = 0
    this.#vardiff = adjust(recordEarlierShare(this.#vardiff, this.#heardAtMs), nowMs)
    if (!this.#vardiff.isLowered) this.#lasting = this.#vardiff.difficulty
    return Math.min(most, this.#vardiff.difficulty) !== Math.min(most, before)
  }

  /** The target to send before a job, or null if the rig has it already. */
  nextTarget(job: RigJob, nowMs: number): bigint | null {
    const isBlock = job.difficulty <= this.#vardiff.difficulty
    const difficulty = isBlock ? job.difficulty : this.#vardiff.difficulty
    const last = this.#sent.at(-1)
    // The same difficulty means the same target, except for that of blocks, which is rounded.
    if (!isBlock && last?.difficulty === difficulty && !last.isBlock) return null
    const target = isBlock ? job.target : targetOfShares(difficulty)
    if (last?.target === target) return null
    const next = { from: job.number, atMs: nowMs, target, targetWords: targetWords(target), difficulty, isBlock }
    this.#sent = [...this.#sent, next].slice(-MAX_SENT_TARGETS)
    return target
  }

  /** The target that applies to a job; undefined if the rig had none. */
  targetFor({ number }: RigJob): SentTarget | undefined {
    return this.#sent.findLast(({ from }) => from <= number)
  }

  /** Whether the hash meets the previous target: the rig may not have applied the job's target yet. */
  metBefore({ number }: RigJob, hash: Uint32Array, nowMs: number): boolean {
    const index = this.#sent.findLastIndex(({ from }) => from <= number)
    if (index <= 0 || nowMs - this.#sent[index].atMs > OVERLAP_MS) return false
    return isAtMost(hash, this.#sent[index - 1].targetWords)
  }

  /** Whether the hash meets a recent target that the rig got while it had this job. */
  meetsLater({ number }: RigJob, hash: Uint32Array, nowMs: number): boolean {
    return this.#sent.some(
      ({ from, atMs, targetWords: words }) => from > number && nowMs - atMs <= OVERLAP_MS && isAtMost(hash, words),
    )
  }
}

/** Mean number of hashes to find one as low. */
function hashesOf(hash: Uint32Array): number {
  let value = 0
  for (let i = 7; i >= 0; i--) value = value * 2 ** 32 + hash[i]
  return 2 ** 256 / (value + 1)
}
