/**
 * Life cycle of a solution: found, handed in, acknowledged; then confirmed at depth N, credited, stale, orphaned or
 * unconfirmed. Submission may also end in stale, rejected or lost.
 *
 * This file is the only list of these words; journal, fleet messages, metrics and pages derive theirs from it.
 */

/** Verdicts that rarely change later. */
export const settledVerdicts = ['accepted', 'stale', 'orphaned', 'rejected', 'lost'] as const
export type SettledVerdict = (typeof settledVerdicts)[number]

/** Verdicts under which solutions are counted. */
export const verdicts = ['accepted', 'unconfirmed', 'stale', 'orphaned', 'rejected', 'lost'] as const
export type Verdict = (typeof verdicts)[number]

/** Verdict -> number of solutions. */
export type VerdictCounts = Readonly<Record<Verdict, number>>

export const noVerdicts: VerdictCounts = { accepted: 0, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 }

/** Reasons for rejection: a closed set, so that no peer can add a metric label. */
export const rejectReasons = [
  'invalid-pow',
  'invalid-payload',
  'no-payload',
  'undecodable',
  'unauthorized',
  'duplicate',
  'low-difficulty',
  'unknown',
] as const
export type RejectReason = (typeof rejectReasons)[number]

/** Reasons why a solution did not reach its issuer: no answer, or the miner stopped first. */
export type LostReason = 'unreachable' | 'stopped'

/**
 * Set if the block may still appear in the chain: an answer may have been lost, or the competing block is not deep yet.
 */
interface MayReturn {
  readonly mayReturn?: boolean
}

/** The miner made a mistake. */
interface RejectedStep {
  readonly step: 'rejected'
  readonly reason: RejectReason
  readonly message: string
}

interface OrphanedStep extends MayReturn {
  readonly step: 'lost'
  readonly reason: LostReason
  readonly message: string
}

/** The issuer's answer to a solution. `stale` means that the chain had moved on. */
export type Receipt =
  | { readonly step: 'acknowledged' }
  | (MayReturn & { readonly step: 'stale' })
  | RejectedStep
  | OrphanedStep

/** Further steps of an acknowledged solution. */
export type FollowUp =
  /** A pool credits the share and follows its block itself. */
  | { readonly step: 'credited' }
  /** The block is in its chain. `depth` counts from 1, the head; greater depths may follow. */
  | { readonly step: 'confirmed'; readonly depth: number }
  /** `stale`: the block never entered its chain. `orphaned`: the chain contained it and then reorganised without it. */
  | (MayReturn & { readonly step: 'stale' | 'orphaned' })
  /** The issuer rejected it later, or an intermediary could not deliver it. */
  | RejectedStep
  | OrphanedStep
  /** Not known yet: the chain has not moved on, or the node does not answer. */
  | { readonly step: 'unconfirmed'; readonly message: string }

/** A step after `found`. */
export type LifeStep = { readonly step: 'handed-in' } | Receipt | FollowUp

/** Step names in the order of the life cycle. */
export const stepNames = [
  'found',
  'handed-in',
  'acknowledged',
  'credited',
  'confirmed',
  'unconfirmed',
  'stale',
  'orphaned',
  'rejected',
  'lost',
] as const
export type StepName = (typeof stepNames)[number]

const verdictOfStep = {
  found: null,
  'handed-in': null,
  acknowledged: null,
  credited: 'accepted',
  confirmed: 'accepted',
  unconfirmed: 'unconfirmed',
  stale: 'stale',
  orphaned: 'orphaned',
  rejected: 'rejected',
  lost: 'lost',
} as const satisfies { readonly [Step in StepName]: Verdict | null }

/**
 * Verdict of a solution after this step.
 * @returns null while there is none
 */
export const verdictOf = <Step extends StepName>(step: Step): (typeof verdictOfStep)[Step] => verdictOfStep[step]

/** True if the block of a solution is not in its chain. */
export const isLostVerdict = (verdict: Verdict | null): boolean =>
  verdict !== null && verdict !== 'accepted' && verdict !== 'unconfirmed'

/** The part of a step that decides whether more may follow, as stored in a journal or sent in a message. */
export interface StepFacts {
  readonly step: StepName
  readonly depth?: number | null
  readonly mayReturn?: boolean
  readonly reason?: string | null
}

/**
 * True if later steps may follow.
 * @param confirmations depth at which a confirmed solution is final; the head of the chain has depth 1
 */
export function mayContinue({ step, depth, mayReturn = false, reason }: StepFacts, confirmations: number): boolean {
  switch (step) {
    case 'found':
    case 'handed-in':
    case 'acknowledged':
    case 'unconfirmed':
      return true
    case 'confirmed':
      return (depth ?? 1) < confirmations
    case 'stale':
    case 'orphaned':
      return mayReturn
    case 'lost':
      // The next start resubmits solutions that were unanswered when the miner stopped.
      return mayReturn || reason === 'stopped'
    case 'credited':
    case 'rejected':
      return false
  }
}

/** True if the issuer has taken a solution at this step. Meant for steps after which more may follow. */
export const wasReceived = (step: StepName): boolean => !['found', 'handed-in', 'rejected', 'lost'].includes(step)

/** Number of failed solutions; unconfirmed ones count neither as failed nor as accepted. */
export const failedOf = ({ stale, orphaned, rejected, lost }: VerdictCounts): number =>
  stale + orphaned + rejected + lost
