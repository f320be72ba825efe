/**
 * The knowledge and goals of a miner of one node as a pure state machine: `step(state, event) -> [state, effects]`. It
 * uses no clock, timer, randomness or network. The shell (node-source.ts) performs the effects and reports their
 * results.
 *
 *     current:  none       no work yet
 *               searching  engines search this job
 *               solved     a solution of this job is on its way or taken; searching further is useless
 *               lost       the chain of this job advanced
 *     standby:  none       not wanted: there is no job, or no other chain
 *               wanted     to be requested when the pause is over
 *               asking     requested; `spare` is the work that stands by meanwhile, if any
 *               ready      work of another chain, so that engines switch at once at a New Cut or a solution
 *
 * As far as chances are known, the chain with the highest expected reward is current, and the next best stands by. At
 * most one request for current work and one for standby work are active.
 */
import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { sameParents, type WorkFields, withCreationTime, withNonce } from '#ground/chain/header.ts'
import { FREE_NONCE } from '#ground/chain/nonce.ts'
import type { Work } from '#ground/chain/work.ts'
import type { Job, JobReason } from '../source.ts'
import type { ExpectedRewards } from './choice.ts'
import type { CutHeads } from './mining-node.ts'

/** Work with its id in this source. */
interface NumberedWork {
  readonly id: number
  readonly work: Work
}

/** Why new work is needed, and since when. */
export interface WorkNeed {
  readonly reason: JobReason
  readonly noticedAtMs: number
}

type CurrentJob =
  | { readonly kind: 'none'; readonly need: WorkNeed }
  | { readonly kind: 'searching'; readonly job: NumberedWork }
  | { readonly kind: 'solved' | 'lost'; readonly job: NumberedWork; readonly need: WorkNeed }

export type Standby =
  | { readonly kind: 'none' }
  | { readonly kind: 'wanted' }
  | {
      readonly kind: 'asking'
      readonly request: number
      readonly askedAtMs: number
      readonly spare: Work | null
      /** The requested chain, or null for any useful one. */
      readonly chain: number | null
      /** The current chain at the time of the request. */
      readonly beside: number
      /** Chains with news after the request. */
      readonly overtaken: ReadonlySet<number>
    }
  /** `isDue`: renewing it failed, and is retried after the pause. */
  | { readonly kind: 'ready'; readonly work: Work; readonly isDue?: boolean }

/** A request for current work. */
export interface CurrentRequest {
  readonly request: number
  readonly askedAtMs: number
  /** Null if the answer is to replace the current job. Otherwise it only checks the job, for this reason. */
  readonly check: JobReason | null
  /** Chains with news after the request; its answer for them may be older. */
  readonly overtaken: ReadonlySet<number>
}

/** Work that we solved. */
export interface SolvedWork extends WorkFields {
  /**
   * Number of consecutive cuts that show its parent as the head of its chain, after its block was in the chain. Null if
   * its block was not. The first such cut may be an older answer. The second proves that the chain rolled back, so work
   * on the parent is useful again.
   */
  readonly cutsBelow: number | null
  /** When the node acknowledged the solution, or null if its block is not due. */
  readonly takenAtMs: number | null
  /** Whether its block is overdue. Then work on the same parents is useful until the block arrives (overdue.ts). */
  readonly isOverdue: boolean
}

/** Since when the node has not delivered requested work (overdue.ts). */
export interface WorkOverdue {
  /** Time of the first failed request for current work, or null if work has arrived after it. */
  readonly failingSinceMs: number | null
  /** Time since which the node owes work, or null if it owes none. */
  readonly owedSinceMs: number | null
  /** Time of the last answer with work. */
  readonly givenAtMs: number
}

/** Signs that the node may have restarted, and when they count (restart-suspicion.ts). */
interface RestartSuspicion {
  /** Minimum interval between signs that count. */
  readonly everyMs: number
  /** Time of the last sign. */
  readonly seenAtMs: number
  /** No sign counts before this time. */
  readonly notBeforeMs: number
  /** Whether a sign waits for that time. */
  readonly isWaiting: boolean
}

export interface State {
  /** Chains to mine. */
  readonly chains: readonly number[]
  /** Expected reward per hash by chain, as last computed; empty if unknown. */
  readonly rewards: ExpectedRewards
  readonly current: CurrentJob
  readonly standby: Standby
  readonly asking: CurrentRequest | null
  /** A check that waits for another request. */
  readonly checkDue: JobReason | null
  /** Consecutive requests for current work without a useful answer. They set the next pause. */
  readonly attempts: number
  /** Consecutive answers that repeated the lost job; they may be older than the news of its chain. */
  readonly outdatedAnswers: number
  /** Whether the pause before the next request for current work is running. */
  readonly isPausing: boolean
  /** Work that we solved, the oldest first. Until its chain advances, other work on the same parents is useless. */
  readonly solved: readonly SolvedWork[]
  /** Chains that have not advanced after we solved their work; they have no work for us yet. */
  readonly awaited: readonly number[]
  /** When news last ended a pause. */
  readonly hurriedAtMs: number
  /** Whether the node has ever given work: a refusal after that is an outage. */
  readonly hasHadWork: boolean
  readonly nextRequest: number
  readonly nextJob: number
  readonly overdue: WorkOverdue
  readonly suspicion: RestartSuspicion
}

export type Event = { readonly atMs: number } & (
  | { readonly type: 'started' }
  | { readonly type: 'answered'; readonly request: number; readonly work: Work }
  /** `isFinal`: the node itself refuses this miner, and a retry would not help. */
  | { readonly type: 'failed'; readonly request: number; readonly isFinal: boolean }
  | { readonly type: 'paused'; readonly purpose: RequestPurpose }
  | { readonly type: 'newCut'; readonly chain: number }
  | { readonly type: 'streamOpened'; readonly chain: number }
  /** The heads of all chains, from a recent answer. */
  | { readonly type: 'cutSeen'; readonly cut: CutHeads }
  | { readonly type: 'refreshDue' }
  /** The user chose these chains to mine. */
  | { readonly type: 'chosen'; readonly chains: readonly number[] }
  /** The chances of all chains were computed. */
  | { readonly type: 'viewed'; readonly chances: ExpectedRewards }
  /** A solution of this work is being submitted. */
  | { readonly type: 'submitted'; readonly fields: WorkFields }
  /** The node acknowledged it. */
  | { readonly type: 'acknowledged'; readonly fields: WorkFields }
  /** Its block is in its chain. */
  | { readonly type: 'confirmed'; readonly fields: WorkFields }
  /** It probably led to no block. */
  | { readonly type: 'reopened'; readonly fields: WorkFields }
  /** The node itself refused it: it may have restarted and forgotten its work. */
  | { readonly type: 'refused'; readonly fields: WorkFields }
  /** Another sign of a restart: a connection ended, or the node was away. */
  | { readonly type: 'restartSuspected' }
  /** The delay of `suspicionLater` is over. */
  | { readonly type: 'suspicionDue' }
  /** The delay of `blockOverdueLater` is over. */
  | { readonly type: 'blockOverdue' }
)

type RequestPurpose = 'current' | 'standby'

export type Effect =
  /** Request work of this chain, or of the best one that is not in `notAmong`. */
  | { readonly type: 'ask'; readonly purpose: RequestPurpose; readonly request: number; readonly chain: number | null }
  | {
      readonly type: 'ask'
      readonly purpose: RequestPurpose
      readonly request: number
      readonly notAmong: readonly number[]
    }
  /** Cancel this request. */
  | { readonly type: 'cancel'; readonly request: number }
  /** Report `paused` after a pause that grows with the attempts. `unpause` cancels it. */
  | { readonly type: 'pause'; readonly purpose: RequestPurpose; readonly attempts: number }
  | { readonly type: 'unpause' }
  | { readonly type: 'deliver'; readonly job: NumberedWork; readonly need: WorkNeed }
  | { readonly type: 'idle' }
  /** Follow the news of this chain. */
  | { readonly type: 'follow'; readonly chain: number }
  /** Report `refreshDue` when work gets old, counted from now. */
  | { readonly type: 'refreshLater' }
  /** Report `suspicionDue` after this delay. */
  | { readonly type: 'suspicionLater'; readonly delayMs: number }
  /** Report `blockOverdue` after this delay; replaces the previous timer. */
  | { readonly type: 'blockOverdueLater'; readonly delayMs: number }
  /** End: the node refuses this miner. */
  | { readonly type: 'end' }

/** Maximum number of remembered solved works, which bounds the state. One per chain is usual. */
export const MAX_SOLVED = 256

export function initialState(chains: readonly number[]): State {
  return {
    chains,
    rewards: new Map(),
    current: { kind: 'none', need: { reason: 'start', noticedAtMs: 0 } },
    standby: { kind: 'none' },
    asking: null,
    checkDue: null,
    attempts: 0,
    outdatedAnswers: 0,
    isPausing: false,
    solved: [],
    awaited: [],
    hurriedAtMs: Number.NEGATIVE_INFINITY,
    hasHadWork: false,
    nextRequest: 1,
    nextJob: 1,
    overdue: { failingSinceMs: null, owedSinceMs: null, givenAtMs: 0 },
    suspicion: {
      everyMs: 0,
      seenAtMs: Number.NEGATIVE_INFINITY,
      notBeforeMs: Number.NEGATIVE_INFINITY,
      isWaiting: false,
    },
  }
}

/** Whether two works are equal except for creation time and nonce. */
export function isSameJob(a: Work, b: Work): boolean {
  return a.bytes.length === b.bytes.length && equalBytes(zeroTimeAndNonce(a.bytes), zeroTimeAndNonce(b.bytes))
}

function zeroTimeAndNonce(bytes: Uint8Array): Uint8Array {
  return withNonce(withCreationTime(bytes, 0n), 0n)
}

/** Whether we already solved a block on the parents of this work, as far as known. */
export function isSolved({ solved }: State, fields: WorkFields): boolean {
  return solved.some((known) => !known.isOverdue && sameParents(known, fields))
}

/** The chain of the current job, or null without one. */
export function searchedChain({ current }: State): number | null {
  return current.kind === 'searching' ? current.job.work.fields.chainId : null
}

/**
 * Whether the node owes work. It does if there is none, or if the current work may be over: a stream reopened, a cut
 * showed other blocks, or the node may have restarted. Routine refreshes do not count.
 */
export function isWorkOwed({ asking, checkDue }: State): boolean {
  return (asking !== null && asking.check !== 'refreshed') || checkDue === 'reconnected'
}

/** Whether current work is requested now, or will be after a pause. */
export function isRequested({ asking, checkDue, isPausing }: State): boolean {
  return asking !== null || checkDue !== null || isPausing
}

/** The reason of a check that serves for both: `reconnected` outranks a routine refresh. */
export function graverCheck(a: JobReason | null, b: JobReason | null): JobReason | null {
  return a === 'reconnected' ? a : (b ?? a)
}

/** The standby work, also while it is renewed. */
export function spareOf({ standby }: State): Work | null {
  if (standby.kind === 'ready') return standby.work
  return standby.kind === 'asking' ? standby.spare : null
}

/** Compares work with a cut: it stands, its chain has a block at its height or above, or it has other parents. */
export function standingOf(cut: CutHeads, work: WorkFields): 'stands' | 'passed' | 'replaced' {
  const head = cut.get(work.chainId)
  if (head === undefined) return 'stands'
  if (head.height >= Number(work.height)) return 'passed'
  // A parent is below the work, so a head below the work must be the parent.
  const isReplaced = ([chain, parent]: readonly [number, Uint8Array]) => {
    const below = cut.get(chain)
    return below !== undefined && below.height < Number(work.height) && below.hash !== encodeBase64Url(parent)
  }
  return [[work.chainId, work.parent] as const, ...work.adjacents].some(isReplaced) ? 'replaced' : 'stands'
}

/** Whether searching this work makes sense. */
export function isUseful(state: State, { fields }: Work): boolean {
  return state.chains.includes(fields.chainId) && !isSolved(state, fields)
}

/** Whether an answer repeats the lost job, perhaps from before the news of its chain. */
export function isOutdated(
  { current }: State,
  { overtaken }: Pick<CurrentRequest, 'overtaken'>,
  fields: WorkFields,
): boolean {
  if (current.kind !== 'lost' || !overtaken.has(fields.chainId)) return false
  return sameParents(current.job.work.fields, fields)
}

/** Why a check brought other work: other transactions on the same parents, or a missed advance of a chain. */
export function reasonFor({ check }: CurrentRequest, before: Work, now: Work): JobReason {
  return check === 'refreshed' && sameParents(before.fields, now.fields) ? 'refreshed' : 'reconnected'
}

/** The job of a source for issued work. */
export function jobOf(
  { job: { id, work }, need }: Pick<Extract<Effect, { readonly type: 'deliver' }>, 'job' | 'need'>,
  issuer: string,
): Job {
  const fixed = { issuer, fixedNonce: FREE_NONCE, manySolutions: false }
  return { id: String(id), work, target: work.fields.target, ...need, ...fixed }
}
