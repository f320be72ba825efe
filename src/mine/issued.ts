/** Work that engines were given: by the sequence number of a claim it is known what the claim is for. */
import { withCreationTime, withNonce } from '../core/header.ts'
import { hasFixedBits, isOfClass } from '../core/nonce.ts'
import { meets, powHash } from '../core/pow.ts'
import { difficultyOf } from '../core/target.ts'
import { type Work, workFromBytes } from '../core/work.ts'
import type { Candidate } from '../engine/engine.ts'
import type { Job } from '../source/source.ts'
import type { BlockHashOf } from './readiness.ts'

/** Works kept for judging late claims. A claim for older work is ignored. */
const MAX_ISSUED_WORKS = 256

/** A job under one sequence number: with one creation time. */
export interface Issued {
  readonly work: Work
  readonly pursuit: Pursuit
  /** Makes block hashes of its solutions; null: not yet. */
  blockHashOf: BlockHashOf | null
}

/** A job while it is searched. */
export interface Pursuit {
  readonly job: Job
  readonly difficulty: number
  readonly receivedAtMs: number
  /** Its first sequence number: an external worker may search the job as it was then. */
  firstSequence: number
  /** When the news came that no block can come of it any more; null: not yet. */
  endedAtMs: number | null
  /** Hashes of all engines when other work took its place; null: it is searched. */
  leftAtHashes: number | null
  /** A solution was found and is on its way; no other is wanted. */
  solved: boolean
}

/** What a claim is, once it was hashed in full. */
export interface Claim {
  readonly bytes: Uint8Array
  readonly hash: Uint8Array
  /** Whether it solves the job with a nonce that was free to try. */
  readonly isRight: boolean
}

/** A job that came now. */
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

/** The same job with this creation time in microseconds, if that is later; null: it is not known. */
export function rolledTo(issued: Issued, time: bigint | null): Issued {
  if (time === null || time <= issued.work.fields.creationTime) return issued
  const work = workFromBytes(withCreationTime(issued.work.bytes, time))
  return { pursuit: issued.pursuit, work, blockHashOf: null }
}

/** Hashes a claim in full before it counts: the node forgets the work when a wrong solution is submitted. */
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

  /** Forgets old works, but never how the present job was first. */
  add(sequence: number, issued: Issued): void {
    this.#works.set(sequence, issued)
    for (const [old, { pursuit }] of this.#works) {
      if (this.#works.size <= MAX_ISSUED_WORKS) return
      if (pursuit !== issued.pursuit || old !== pursuit.firstSequence) this.#works.delete(old)
    }
  }

  /** undefined: it was never issued, or is forgotten. */
  of(sequence: number): Issued | undefined {
    return this.#works.get(sequence)
  }
}
