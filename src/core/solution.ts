/**
 * The life of a solution: found, handed in, acknowledged, then confirmed at depth N, credited, stale, orphaned or
 * unconfirmed; or stale, rejected or lost when it is handed in. This file is the only list of these words; journal, fleet
 * messages, metrics and pages build theirs from it.
 */

/** Verdicts that rarely change. */
export const settledVerdicts = ['accepted', 'stale', 'orphaned', 'rejected', 'lost'] as const
export type SettledVerdict = (typeof settledVerdicts)[number]

/** The outcome that a solution counts as. */
export const verdicts = ['accepted', 'unconfirmed', 'stale', 'orphaned', 'rejected', 'lost'] as const
export type Verdict = (typeof verdicts)[number]

/** Verdict -> number of solutions. */
export type VerdictCounts = Readonly<Record<Verdict, number>>

export const noVerdicts: VerdictCounts = { accepted: 0, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 }

/** Why an issuer refuses a solution: a closed set, so that no peer can add a label. */
export const rejectReasons = [
  ...(['invalid-pow', 'invalid-payload', 'no-payload', 'undecodable', 'unauthorized'] as const),
  ...(['duplicate', 'low-difficulty', 'unknown'] as const),
]
export type RejectReason = (typeof rejectReasons)[number]

/** Why a solution did not reach its issuer: nobody answered, or the miner ended first. */
export type LostReason = 'unreachable' | 'stopped'

/**
 * Whether the block may be in the chain after all: an answer may have been lost, or the block in its place does not lie
 * deep yet.
 */
interface Open {
  readonly mayReturn?: boolean
}

/** The miner did something wrong. */
interface Rejected {
  readonly step: 'rejected'
  readonly reason: RejectReason
  readonly message: string
}

interface Lost extends Open {
  readonly step: 'lost'
  readonly reason: LostReason
  readonly message: string
}

/** The issuer's answer to a solution. `stale`: its chain had moved on. */
export type Receipt = { readonly step: 'acknowledged' } | (Open & { readonly step: 'stale' }) | Rejected | Lost

/** What becomes of a solution that was acknowledged. */
export type FollowUp =
  /** A pool counts the share, and follows its block itself. */
  | { readonly step: 'credited' }
  /** The block is in its chain; `depth` counts from 1, the head. Greater depths may follow. */
  | { readonly step: 'confirmed'; readonly depth: number }
  /** `stale`: the block never got into its chain. `orphaned`: the chain had it, and goes on without it. */
  | (Open & { readonly step: 'stale' | 'orphaned' })
  /** The issuer refused it later, or whoever took it for the issuer could not deliver it. */
  | Rejected
  | Lost
  /** Nobody could say yet: its chain has not moved on, or the node does not answer. */
  | { readonly step: 'unconfirmed'; readonly message: string }

/** A step after the solution was found. */
export type LifeStep = { readonly step: 'handed-in' } | Receipt | FollowUp

/** Steps by name, in the order of a life. */
export const stepNames = [
  ...(['found', 'handed-in', 'acknowledged', 'credited', 'confirmed', 'unconfirmed'] as const),
  ...(['stale', 'orphaned', 'rejected', 'lost'] as const),
]
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

/** Verdict of a solution after this step. @returns null while there is none */
export const verdictOf = <Step extends StepName>(step: Step): (typeof verdictOfStep)[Step] => verdictOfStep[step]

/** A step as a journal or a message keeps it. */
interface ToldStep {
  readonly step: StepName
  readonly depth?: number | null
  readonly mayReturn?: boolean
  readonly reason?: string | null
}

/** Whether more may be told of a solution that is settled at this depth; a depth of 1 is the head of its chain. */
export function mayGoOn({ step, depth, mayReturn = false, reason }: ToldStep, confirmations: number): boolean {
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
      // The next start hands in what nobody answered for before the miner stopped.
      return mayReturn || reason === 'stopped'
    case 'credited':
    case 'rejected':
      return false
  }
}

/** Whether a step of a solution that may go on says that its issuer took it. */
export const wasTaken = (step: StepName): boolean => !['found', 'handed-in', 'rejected', 'lost'].includes(step)

/** Solutions that came to nothing; those that are unconfirmed count as neither. */
export const failedOf = ({ stale, orphaned, rejected, lost }: VerdictCounts): number =>
  stale + orphaned + rejected + lost
