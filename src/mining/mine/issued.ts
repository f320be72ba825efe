/** Work issued to engines, by sequence number, and the full check of claims for it. */
import { withCreationTime, withNonce } from '#ground/chain/header.ts'
import { hasFixedBits, isOfClass } from '#ground/chain/nonce.ts'
import { meets, powHash } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { type Work, workFromBytes } from '#ground/chain/work.ts'
import type { Candidate } from '../engine/engine.ts'
import type { Job } from '../source/source.ts'
import type { BlockHashOf } from './readiness.ts'

/** Works kept to check late claims. Claims for older work are ignored. */
const MAX_ISSUED_WORKS = 256

/** A job with one creation time, under one sequence number. */
export interface Issued {
  readonly work: Work
  readonly pursuit: Pursuit
  /** Computes block hashes of its solutions, or null until prepared. */
  blockHashOf: BlockHashOf | null
}

/** The search for one job, over all its sequence numbers. */
export interface Pursuit {
  readonly job: Job
  readonly difficulty: number
  readonly receivedAtMs: number
  /** The first sequence number of the job. An external worker may still search the work of that time. */
  firstSequence: number
  /** When news made the job obsolete, or null while it can still become a block. */
  endedAtMs: number | null
  /** Hashes of all engines when other work replaced it, or null while it is searched. */
  leftAtHashes: number | null
  /** Whether a solution is on its way and no other is wanted. */
  solved: boolean
}

/** A claim after it was hashed in full. */
interface Claim {
  readonly bytes: Uint8Array
  readonly hash: Uint8Array
  /** Whether it solves the job with a nonce that the searcher may use. */
  readonly isRight: boolean
}

/** @param receivedAtMs monotonic time */
export function issuedFor(job: Job, receivedAtMs: number): Issued {
  const difficulty = Number(difficultyOf(job.target) ?? 0n)
  const pursuit = {
    job,
    difficulty,
    receivedAtMs,
    firstSequence: 0,
    endedAtMs: null,
    leftAtHashes: null,
    solved: false,
  }
  return { work: job.work, pursuit, blockHashOf: null }
}

/**
 * Advances the creation time of issued work.
 * @param time microseconds, or null if unknown
 * @returns the same object if `time` is null or not later
 */
export function rolledTo(issued: Issued, time: bigint | null): Issued {
  if (time === null || time <= issued.work.fields.creationTime) return issued
  const work = workFromBytes(withCreationTime(issued.work.bytes, time))
  return { pursuit: issued.pursuit, work, blockHashOf: null }
}

/** Hashes a claim in full before it counts: a node forgets the work when it gets a wrong solution. */
export function claimOf({ work, pursuit }: Issued, { nonce, creationTime }: Candidate): Claim {
  const searched = creationTime === undefined ? work.bytes : withCreationTime(work.bytes, creationTime)
  const bytes = withNonce(searched, nonce)
  const hash = powHash(bytes)
  const { fixedNonce, headers, target } = pursuit.job
  const isOwn = headers != null && isOfClass(creationTime ?? work.fields.creationTime, headers)
  return { bytes, hash, isRight: (isOwn || hasFixedBits(nonce, fixedNonce)) && meets(hash, target) }
}

export class IssuedWorks {
  readonly #works = new Map<number, Issued>()

  /** Adds work and evicts old work, but never the first issue of the current job. */
  add(sequence: number, issued: Issued): void {
    this.#works.set(sequence, issued)
    for (const [old, { pursuit }] of this.#works) {
      if (this.#works.size <= MAX_ISSUED_WORKS) return
      if (pursuit !== issued.pursuit || old !== pursuit.firstSequence) this.#works.delete(old)
    }
  }

  /** @returns undefined if it was never issued, or is evicted */
  of(sequence: number): Issued | undefined {
    return this.#works.get(sequence)
  }
}
