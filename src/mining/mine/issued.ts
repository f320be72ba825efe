/** Work issued to engines, by sequence number, and the full check of claims for it. */
import { withCreationTime, withNonce } from '#ground/chain/header.ts'
import { FREE_NONCE, hasFixedBits, isOfClass } from '#ground/chain/nonce.ts'
import { meets, powHash } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { type Work, workFromBytes } from '#ground/chain/work.ts'
import type { Candidate } from '../engine/engine.ts'
import type { Job } from '../source/source.ts'
import type { BlockHasher } from './readiness.ts'

/** Maximum number of works kept to check late claims, which bounds the memory. Claims for older work are ignored. */
const MAX_ISSUED_WORKS = 256

/** A job with one creation time, under one sequence number. */
export interface IssuedWork {
  readonly work: Work
  readonly search: JobSearch
  /** Computes block hashes of its solutions, or null until prepared. */
  blockHashOf: BlockHasher | null
}

/** The search for one job, over all its sequence numbers. */
export interface JobSearch {
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
export function issueJob(job: Job, receivedAtMs: number): IssuedWork {
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
  return { work: job.work, search: pursuit, blockHashOf: null }
}

/**
 * The job of solved work that this run did not issue: an earlier run or another leader did.
 * @param id name of the job in events
 * @param noticedAtMs monotonic time
 * @throws FormatError if the bytes are not work
 */
export function jobOfSolvedWork(id: string, issuer: string, bytes: Uint8Array, noticedAtMs: number): Job {
  const work = workFromBytes(bytes)
  const { target } = work.fields
  return { id, issuer, work, target, fixedNonce: FREE_NONCE, manySolutions: false, reason: 'start', noticedAtMs }
}

/**
 * Advances the creation time of issued work.
 * @param time microseconds, or null if unknown
 * @returns the same object if `time` is null or not later
 */
export function rollCreationTime(issued: IssuedWork, time: bigint | null): IssuedWork {
  if (time === null || time <= issued.work.fields.creationTime) return issued
  const work = workFromBytes(withCreationTime(issued.work.bytes, time))
  return { search: issued.search, work, blockHashOf: null }
}

/** Hashes a claim in full before it counts: a node forgets the work when it gets a wrong solution. */
export function claimOf({ work, search: pursuit }: IssuedWork, { nonce, creationTime }: Candidate): Claim {
  const searched = creationTime === undefined ? work.bytes : withCreationTime(work.bytes, creationTime)
  const bytes = withNonce(searched, nonce)
  const hash = powHash(bytes)
  const { fixedNonce, headers, target } = pursuit.job
  const isOwn = headers != null && isOfClass(creationTime ?? work.fields.creationTime, headers)
  return { bytes, hash, isRight: (isOwn || hasFixedBits(nonce, fixedNonce)) && meets(hash, target) }
}

export class IssuedWorks {
  readonly #works = new Map<number, IssuedWork>()

  /** Adds work and evicts old work, but never the first issue of the current job. */
  add(sequence: number, issued: IssuedWork): void {
    this.#works.set(sequence, issued)
    for (const [old, { search: pursuit }] of this.#works) {
      if (this.#works.size <= MAX_ISSUED_WORKS) return
      if (pursuit !== issued.search || old !== pursuit.firstSequence) this.#works.delete(old)
    }
  }

  /** @returns undefined if it was never issued, or is evicted */
  find(sequence: number): IssuedWork | undefined {
    return this.#works.get(sequence)
  }
}
