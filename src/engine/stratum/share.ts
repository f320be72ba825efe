/** A share of a rig, and its judgement. */
import type { Presence } from '../../accounts/accounts.ts'
import { isAtMost } from '../../core/pow.ts'
import { printable } from '../../core/printable.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { ByteOrder } from '../../stratum/nonces.ts'
import { type Jobs, nonceOfShare, type RigJob, type ShareHash } from './jobs.ts'
import { isNonce2, type Nonce1Bits, nonceParts } from './nonce-parts.ts'
import type { SeenShares } from './seen-shares.ts'
import type { ShareDifficulty } from './share-difficulty.ts'
import type { User } from './users.ts'
import type { Worker } from './workers.ts'

/** A share of a job. */
export interface Hashed {
  readonly job: RigJob
  readonly hash: Uint32Array
}

export interface Share {
  readonly verdict: ShareVerdict
  /** Whom it counts for; null: the session has not authorized. */
  readonly rig: Rig | null
  /** Hashes that it took on average; 0 unless it is accepted, and meets what the rig was told for its job. */
  readonly hashes: number
  /** It is no low or repeated one, and its hash takes so many others that judging it costs next to nothing beside them. */
  readonly isHard?: boolean
  /** A low one that meets the target that the rig had a moment ago. */
  readonly isLate?: boolean
  /** A nonce that solves the work itself. */
  readonly solution?: (Hashed & { readonly nonce: bigint }) | undefined
  /** Job and hash of an accepted share. */
  readonly kept?: Hashed | undefined
  /** Its job was never handed out here. */
  readonly isUnknownJob?: boolean | undefined
}

/** Whom the shares of a session count for. */
export interface Rig {
  readonly worker: Worker
  readonly user: User
  readonly presence: Presence
}

const MAX_AGENT = 64

/** The accounts learn from where the rig connects, and what its program calls itself. */
export function introduced(rig: Rig, address: string, agent: string): Rig {
  rig.presence.address = address
  rig.presence.agent = printable(agent, MAX_AGENT)
  return rig
}

/** The session of a share. */
export interface ShareContext {
  readonly rig: Rig | null
  readonly isSubscribed: boolean
  /** null: it has not both subscribed and authorized. */
  readonly difficulty: ShareDifficulty | null
  readonly nonce1: number
  readonly nonce1Bits: Nonce1Bits
  readonly order: ByteOrder
  readonly seen: SeenShares
  readonly jobs: Jobs
  readonly shareHash: ShareHash
  readonly nowMs: number
  /** The nonces of the job are too many to be remembered. */
  readonly onFull: () => void
}

/**
 * Judges the parameters of a share, and counts one that is right. Every share of a job that is known is hashed: one that
 * solves the work is handed in, whatever the rig is told.
 */
export function judged([, id, text]: readonly unknown[], context: ShareContext): Share {
  const { rig, difficulty, nonce1Bits, seen, jobs, shareHash, nowMs, onFull } = context
  if (!context.isSubscribed) return shareOf(rig, 'unsubscribed')
  if (difficulty === null) return shareOf(rig, 'unauthorized')
  if (typeof id !== 'string' || id === '') return shareOf(rig, 'malformed')
  if (typeof text !== 'string' || !isNonce2(text, nonce1Bits)) return shareOf(rig, 'malformed')
  const job = jobs.find(id)
  if (job === null) return { ...shareOf(rig, 'stale'), isUnknownJob: !jobs.hadId(id) }
  const { nonce1, nonce2, key } = nonceParts(text, context.nonce1, nonce1Bits, context.order)
  const shares = seen.of(job)
  if (shares?.has(key)) return shareOf(rig, 'duplicate')
  const hash = shareHash(job, nonce1, nonce2)
  const solution = isAtMost(hash, job.targetWords) ? { job, hash, nonce: nonceOfShare(nonce1, nonce2) } : undefined
  const told = difficulty.heldFor(job)
  // What is forgotten could be handed in twice, or does not say what its shares are worth.
  if (shares === null || told === undefined) return { ...shareOf(rig, 'stale'), solution }
  const isWhole = isAtMost(hash, told.targetWords)
  // One that meets an easier target that came later is right, and adds nothing to what the job's own shares tell.
  if (!isWhole && !difficulty.meetsLater(job, hash, nowMs))
    return { ...shareOf(rig, 'low'), solution, isLate: difficulty.metBefore(job, hash, nowMs) }
  // The rig goes on with a fresh job.
  if (seen.add(job, key)) onFull()
  difficulty.count(job, hash, nowMs)
  // The highest word of the hash is 0: it takes 2^32 others.
  const isHard = hash[7] === 0
  if (jobs.isOver(job)) return { verdict: 'stale', rig, hashes: 0, solution, isHard }
  return { verdict: 'accepted', rig, hashes: isWhole ? told.difficulty : 0, solution, isHard, kept: { job, hash } }
}

/** A share that adds nothing. */
export function shareOf(rig: Rig | null, verdict: ShareVerdict): Share {
  return { verdict, rig, hashes: 0 }
}
