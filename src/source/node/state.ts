/**
 * What a miner of a node knows and wants, as a pure state machine: `step(state, event) -> [state, effects]`. It touches
 * no clock, timer, randomness or network; the shell (node-source.ts) performs the effects and tells what came of them.
 *
 *     current:  none       nothing has been found to search for
 *               searching  engines search this job
 *               solved     a solution of this job is on its way, or was taken: searching it on is of no use
 *               lost       the chain of this job moved on
 *     standby:  none       not wanted: there is no job, or no other chain
 *               wanted     to be asked for when the pause is over
 *               asking     asked for; `spare` is the work that stands by meanwhile, if any
 *               ready      work of another chain, so that a New Cut or a solution switches engines at once
 *
 * Work of the chain where a hash is worth most is current, that of the next best stands by, as far as chances are known.
 *
 * At most one request for current work and one for standby work are under way.
 */
import { encodeBase64Url, equalBytes } from '../../core/bytes.ts'
import { sameParents, type WorkFields, withCreationTime, withNonce } from '../../core/header.ts'
import { FREE_NONCE } from '../../core/nonce.ts'
import type { Work } from '../../core/work.ts'
import type { Job, JobReason } from '../source.ts'
import type { Chances } from './choice.ts'
import type { CutHeads } from './mining-node.ts'

/** Work under the identity that the miner knows it by. */
export interface IssuedWork {
  readonly id: number
  readonly work: Work
}

/** Why new work is needed, and since when. */
export interface Need {
  readonly reason: JobReason
  readonly noticedAtMs: number
}

export type Current =
  | { readonly kind: 'none'; readonly need: Need }
  | { readonly kind: 'searching'; readonly job: IssuedWork }
  | { readonly kind: 'solved' | 'lost'; readonly job: IssuedWork; readonly need: Need }

export type Standby =
  | { readonly kind: 'none' }
  | { readonly kind: 'wanted' }
  | {
      readonly kind: 'asking'
      readonly request: number
      readonly askedAtMs: number
      readonly spare: Work | null
      /** The chain that was asked for; null: any but those that are of no use. */
      readonly chain: number | null
      /** The chain that was searched when it was asked for. */
      readonly beside: number
      /** Chains with news since then. */
      readonly overtaken: ReadonlySet<number>
    }
  /** `isDue`: it could not be asked for anew, and that is tried again when the pause is over. */
  | { readonly kind: 'ready'; readonly work: Work; readonly isDue?: boolean }

/** A request for current work. */
export interface Asking {
  readonly request: number
  readonly askedAtMs: number
  /** It only checks whether the current job still stands; null: it is to replace that. */
  readonly check: JobReason | null
  /** Chains with news since it was sent: what it answers for them may be older than the news. */
  readonly overtaken: ReadonlySet<number>
}

/** Work that we solved. */
export interface SolvedWork extends WorkFields {
  /**
   * How many cuts in a row have shown its parent as the head of its chain, since its block was in that chain; null: its
   * block was not. The first may have been asked for before. After a second one, work on top of the parent is of use
   * again: the chain went back.
   */
  readonly behind: number | null
  /** When the node acknowledged the solution, while its block is due; null: it is not, or not any more. */
  readonly takenAtMs: number | null
  /** Its block did not come in time: work on top of the same parents is of use until it does (overdue.ts). */
  readonly isOverdue: boolean
}

/** How long the node has given no work that was asked for (overdue.ts). */
export interface WorkOverdue {
  /** When the first of the requests for current work was made that failed; null: some work came since. */
  readonly failingSinceMs: number | null
  /** Since when the node has owed work, and has given none; null: it does not. */
  readonly owedSinceMs: number | null
  /** When it last gave some. */
  readonly givenAtMs: number
}

/** Signs that the node may have started anew, and when they count (restart-suspicion.ts). */
export interface RestartSuspicion {
  /** From one sign that counts to the next. */
  readonly everyMs: number
  /** When the last sign came. */
  readonly seenAtMs: number
  /** No sign counts before. */
  readonly notBeforeMs: number
  /** Whether a sign waits for that time. */
  readonly isWaiting: boolean
}

export interface State {
  /** Chains to mine. No other chain is mined. */
  readonly chains: readonly number[]
  /** What a hash is worth on chains that can be mined, as last seen; empty: nothing is known. */
  readonly chances: Chances
  readonly current: Current
  readonly standby: Standby
  readonly asking: Asking | null
  /** A check that was due while another request was under way. */
  readonly checkDue: JobReason | null
  /** Requests for current work in a row that brought nothing of use; sets the pause before the next. */
  readonly attempts: number
  /** Answers in a row that were the lost job once more, and may be from before the news of its chain. */
  readonly outdatedAnswers: number
  /** Whether the pause before the next request for current work runs. */
  readonly isPausing: boolean
  /** Work that we solved, oldest first: until its chain moves on, work on top of the same parents is of no use. */
  readonly solved: readonly SolvedWork[]
  /** Chains that have not moved on since we solved their work, as far as we heard: they have nothing for us yet. */
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
  /** `isFinal`: the node itself refuses this miner; asking again would not help. */
  | { readonly type: 'failed'; readonly request: number; readonly isFinal: boolean }
  | { readonly type: 'paused'; readonly purpose: Purpose }
  | { readonly type: 'newCut'; readonly chain: number }
  | { readonly type: 'streamOpened'; readonly chain: number }
  /** The heads of all chains, as the node told them not long ago. */
  | { readonly type: 'cutSeen'; readonly cut: CutHeads }
  | { readonly type: 'refreshDue' }
  /** These chains are to be mined from now on, and no other. */
  | { readonly type: 'chosen'; readonly chains: readonly number[] }
  /** The heads of all chains were looked at. */
  | { readonly type: 'viewed'; readonly chances: Chances }
  /** A solution of this work is handed in. */
  | { readonly type: 'handedIn'; readonly fields: WorkFields }
  /** The node acknowledged it. */
  | { readonly type: 'taken'; readonly fields: WorkFields }
  /** Its block is in its chain. */
  | { readonly type: 'confirmed'; readonly fields: WorkFields }
  /** As far as anybody knows, no block came of it. */
  | { readonly type: 'reopened'; readonly fields: WorkFields }
  /** The node itself refused it: it may have started anew, and know nothing of the work that it gave before. */
  | { readonly type: 'refused'; readonly fields: WorkFields }
  /** The same for another reason: a connection ended, or it was away. */
  | { readonly type: 'restartSuspected' }
  /** The time of `suspicionLater` has come. */
  | { readonly type: 'suspicionDue' }
  /** The time of `blockOverdueLater` has come. */
  | { readonly type: 'blockOverdue' }
)

export type Purpose = 'current' | 'standby'

export type Effect =
  /** Ask for work: of this chain, or of the best but those in `notAmong`. */
  | { readonly type: 'ask'; readonly purpose: Purpose; readonly request: number; readonly chain: number | null }
  | {
      readonly type: 'ask'
      readonly purpose: Purpose
      readonly request: number
      readonly notAmong: readonly number[]
    }
  /** The answer is no longer wanted. */
  | { readonly type: 'cancel'; readonly request: number }
  /** Tell `paused` after a pause that grows with the attempts; `unpause` takes it back. */
  | { readonly type: 'pause'; readonly purpose: Purpose; readonly attempts: number }
  | { readonly type: 'unpause' }
  | { readonly type: 'deliver'; readonly job: IssuedWork; readonly need: Need }
  | { readonly type: 'idle' }
  /** Hear of news on this chain. */
  | { readonly type: 'follow'; readonly chain: number }
  /** Tell `refreshDue` when work gets old, counted from now. */
  | { readonly type: 'refreshLater' }
  /** Tell `suspicionDue` after this time. */
  | { readonly type: 'suspicionLater'; readonly delayMs: number }
  /** Tell `blockOverdue` after this time, and not at the time that was given before. */
  | { readonly type: 'blockOverdueLater'; readonly delayMs: number }
  /** Give up: the node refuses this miner. */
  | { readonly type: 'end' }

/** Most solved work that is remembered: one a chain is usual. */
export const MAX_SOLVED = 256

export function initialState(chains: readonly number[]): State {
  return {
    chains,
    chances: new Map(),
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

/** Work that a node gave out once more: the same but for its creation time. */
export function isSameJob(a: Work, b: Work): boolean {
  return a.bytes.length === b.bytes.length && equalBytes(timeless(a.bytes), timeless(b.bytes))
}

function timeless(bytes: Uint8Array): Uint8Array {
  return withNonce(withCreationTime(bytes, 0n), 0n)
}

/** Whether the block on top of the parents of this work is ours already, as far as we know. */
export function isSolved({ solved }: State, fields: WorkFields): boolean {
  return solved.some((known) => !known.isOverdue && sameParents(known, fields))
}

/** The chain of the job that is searched; null when none is. */
export function searchedChain({ current }: State): number | null {
  return current.kind === 'searching' ? current.job.work.fields.chainId : null
}

/**
 * Whether the node owes work: there is none, or what is searched may be over, since a stream was opened anew, other blocks
 * were seen, or it may have started anew. Routine asks too, and is in no hurry.
 */
export function isWorkOwed({ asking, checkDue }: State): boolean {
  return (asking !== null && asking.check !== 'refreshed') || checkDue === 'reconnected'
}

/** Whether current work is asked for, or will be after a pause. */
export function isAskedFor({ asking, checkDue, isPausing }: State): boolean {
  return asking !== null || checkDue !== null || isPausing
}

/** The reason of a check that serves for both: a doubt is not to be taken for routine. */
export function graver(a: JobReason | null, b: JobReason | null): JobReason | null {
  return a === 'reconnected' ? a : (b ?? a)
}

/** The work that stands by, even while newer is asked for. */
export function spareOf({ standby }: State): Work | null {
  if (standby.kind === 'ready') return standby.work
  return standby.kind === 'asking' ? standby.spare : null
}

/** What a cut says of work: it stands, its chain has a block at its height or above, or it has other parents. */
export function standingOf(cut: CutHeads, work: WorkFields): 'stands' | 'passed' | 'replaced' {
  const head = cut.get(work.chainId)
  if (head === undefined) return 'stands'
  if (head.height >= Number(work.height)) return 'passed'
  // A parent lies below the work: a head that lies there as well is the parent.
  const isReplaced = ([chain, parent]: readonly [number, Uint8Array]) => {
    const below = cut.get(chain)
    return below !== undefined && below.height < Number(work.height) && below.hash !== encodeBase64Url(parent)
  }
  return [[work.chainId, work.parent] as const, ...work.adjacents].some(isReplaced) ? 'replaced' : 'stands'
}

/** Whether there is any sense in searching this work. */
export function isUseful(state: State, { fields }: Work): boolean {
  return state.chains.includes(fields.chainId) && !isSolved(state, fields)
}

/** Whether an answer is the lost job once more, perhaps from before the news that its chain moved on. */
export function isOutdated({ current }: State, { overtaken }: Pick<Asking, 'overtaken'>, fields: WorkFields): boolean {
  if (current.kind !== 'lost' || !overtaken.has(fields.chainId)) return false
  return sameParents(current.job.work.fields, fields)
}

/** Why a check brought other work: other transactions on the same parents, or a chain moved on unheard. */
export function reasonFor({ check }: Asking, before: Work, now: Work): JobReason {
  return check === 'refreshed' && sameParents(before.fields, now.fields) ? 'refreshed' : 'reconnected'
}

/** Work of a node, as the miner gets it. */
export function jobOf(
  { job: { id, work }, need }: Pick<Extract<Effect, { readonly type: 'deliver' }>, 'job' | 'need'>,
  issuer: string,
): Job {
  const fixed = { issuer, fixedNonce: FREE_NONCE, manySolutions: false }
  return { id: String(id), work, target: work.fields.target, ...need, ...fixed }
}
