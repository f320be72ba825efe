/** Shares of rigs, and their judgement. */

import { printable } from '#ground/base/printable.ts'
import { isAtMost } from '#ground/chain/pow.ts'
import type { WorkerConnection } from '../../accounts/accounts.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { ByteOrder } from '../../stratum/nonces.ts'
import { type Jobs, nonceOfShare, type RigJob, type ShareHash } from './jobs.ts'
import { isNonce2, type Nonce1Bits, nonceParts } from './nonce-parts.ts'
import type { SeenShares } from './seen-shares.ts'
import type { ShareDifficulty } from './share-difficulty.ts'
import type { User } from './users.ts'
import type { Worker } from './workers.ts'

/** A share's hash and its job. */
export interface HashedShare {
  readonly job: RigJob
  readonly hash: Uint32Array
}

/**
 * A judged share. The life of a share:
 *
 * 1. A rig submits the id of a job and a nonce2. `judgeShare` refuses what it cannot parse, and jobs that are evicted.
 * 2. Its hash is computed, once for each nonce of a job: a repeated nonce is a duplicate.
 * 3. The hash is compared with the target of the work, and with the targets that the rig got. If it solves the work, the
 *    miner gets the candidate, whatever the verdict.
 * 4. An accepted share is stored in the share log, if there is one. If that fails, its verdict is `unavailable`.
 * 5. The verdict is counted for worker, user and account, and answered to the rig.
 */
export interface Share {
  readonly verdict: ShareVerdict
  /** The rig that it counts for, or null before authorization. */
  readonly rig: Rig | null
  /** Difficulty of the share; 0 unless it is accepted and meets the target of its job. */
  readonly hashes: number
  /** Whether it is neither low nor duplicate and so difficult that judging it is cheap in comparison. */
  readonly isHard?: boolean
  /** Whether it is low but meets the rig's previous target. */
  readonly isLate?: boolean
  /** Set if the share solves the work itself. */
  readonly solution?: (HashedShare & { readonly nonce: bigint }) | undefined
  /** Job and hash of an accepted share. */
  readonly hashed?: HashedShare | undefined
  /** Whether this server never issued its job. */
  readonly isUnknownJob?: boolean | undefined
}

/** The accounts that a session's shares count for. */
export interface Rig {
  readonly worker: Worker
  readonly user: User
  readonly presence: WorkerConnection
}

/** Maximum length of a program name. The client chooses it, and it is stored with each share. */
const MAX_AGENT = 64

/** Records the address and program of a rig in its accounts. */
export function introduce(rig: Rig, address: string, agent: string): Rig {
  rig.presence.setOrigin(printable(agent, MAX_AGENT), address)
  return rig
}

/** The session of a share. */
export interface ShareContext {
  readonly rig: Rig | null
  readonly isSubscribed: boolean
  /** Null until it has both subscribed and authorized. */
  readonly difficulty: ShareDifficulty | null
  readonly nonce1: number
  readonly nonce1Bits: Nonce1Bits
  readonly order: ByteOrder
  readonly seen: SeenShares
  readonly jobs: Jobs
  readonly shareHash: ShareHash
  readonly nowMs: number
  /** Called when the job has too many shares to remember. */
  readonly onFull: () => void
}

/**
 * Judges the parameters of a share, and counts a correct one. Hashes every share of a known job, because one that
 * solves the work is submitted whatever the rig's verdict.
 */
export function judgeShare([, id, text]: readonly unknown[], context: ShareContext): Share {
  const { rig, difficulty, nonce1Bits, seen, jobs, shareHash, nowMs, onFull } = context
  if (!context.isSubscribed) return shareOf(rig, 'unsubscribed')
  if (difficulty === null) return shareOf(rig, 'unauthorized')
  if (typeof id !== 'string' || id === '') return shareOf(rig, 'malformed')
  if (typeof text !== 'string' || !isNonce2(text, nonce1Bits)) return shareOf(rig, 'malformed')
  const job = jobs.find(id)
  if (job === null) return { ...shareOf(rig, 'stale'), isUnknownJob: !jobs.hadId(id) }
  const { nonce1, nonce2, key } = nonceParts(text, context.nonce1, nonce1Bits, context.order)
  const shares = seen.sharesOf(job)
  if (shares?.has(key)) return shareOf(rig, 'duplicate')
  const hash = shareHash(job, nonce1, nonce2)
  const solution = isAtMost(hash, job.targetWords) ? { job, hash, nonce: nonceOfShare(nonce1, nonce2) } : undefined
  const sent = difficulty.targetFor(job)
  // Without its nonces a share could be a duplicate; without a target its worth is unknown.
  if (shares === null || sent === undefined) return { ...shareOf(rig, 'stale'), solution }
  const isWhole = isAtMost(hash, sent.targetWords)
  // A share that meets only a later, easier target is valid, but adds no hashes.
  if (!isWhole && !difficulty.meetsLater(job, hash, nowMs))
    return { ...shareOf(rig, 'low'), solution, isLate: difficulty.metBefore(job, hash, nowMs) }
  // The rig continues with a fresh job.
  if (seen.add(job, key)) onFull()
  difficulty.count(job, hash, nowMs)
  // The highest word of the hash is 0, so the share takes at least 2^32 hashes.
  const isHard = hash[7] === 0
  if (jobs.isOver(job)) return { verdict: 'stale', rig, hashes: 0, solution, isHard }
  return { verdict: 'accepted', rig, hashes: isWhole ? sent.difficulty : 0, solution, isHard, hashed: { job, hash } }
}

/** A share that adds nothing. */
export function shareOf(rig: Rig | null, verdict: ShareVerdict): Share {
  return { verdict, rig, hashes: 0 }
}
