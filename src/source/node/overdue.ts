/**
 * What a node owes, and for how long: work that was asked for, and the blocks of solutions that it acknowledged. Pure.
 *
 * A node may drop a solution without a word (PROTOCOL.md A.2): then its chain waits for a block that never comes. After a
 * few seconds the chain is searched again, and the solution is followed on: it is not handed in again, and if its block
 * comes after all, the new work is over.
 */
import { sameParents, type WorkFields } from '../../core/header.ts'
import { hurry } from './current.ts'
import type { CutHeads } from './mining-node.ts'
import {
  type Event,
  isAskedFor,
  isWorkOwed,
  type SolvedWork,
  type State,
  standingOf,
  type WorkOverdue,
} from './state.ts'
import type { Transition } from './transition.ts'

/** A live node adds a solved block within about a second. Longer, and the chain is searched again; 5 s with the new work. */
export const BLOCK_OVERDUE_MS = 4_000

/** How long requests for work have failed, or the node has owed work; 0: neither. */
export function overdueMs({ overdue }: State, nowMs: number): number {
  const sinceMs = Math.min(overdue.failingSinceMs ?? Infinity, overdue.owedSinceMs ?? Infinity)
  return Math.max(0, nowMs - sinceMs)
}

/** What is overdue after an event. `before` and `after`: the states beside that. */
export function overdueAfter(before: State, event: Event, after: State): WorkOverdue {
  const { failingSinceMs, owedSinceMs, givenAtMs } = noted(before, event)
  // From the oldest question without an answer, after the last answer in any case.
  const unansweredMs = Math.max(givenAtMs, Math.min(event.atMs, ...askedAtMs(before)))
  return {
    givenAtMs,
    owedSinceMs: isWorkOwed(after) ? (owedSinceMs ?? unansweredMs) : null,
    // Nobody asks any more: what is searched now was never refused.
    failingSinceMs: isAskedFor(after) ? failingSinceMs : null,
  }
}

/** An answer ends it all, whether or not it is still wanted. A failure of a request for current work begins it. */
function noted({ overdue, asking }: State, event: Event): WorkOverdue {
  if (event.type === 'answered') return { failingSinceMs: null, owedSinceMs: null, givenAtMs: event.atMs }
  if (event.type !== 'failed' || asking?.request !== event.request) return overdue
  return { ...overdue, failingSinceMs: overdue.failingSinceMs ?? asking.askedAtMs }
}

/** When the requests were made that are not answered. */
function askedAtMs({ asking, standby }: State): number[] {
  const open = [asking, standby.kind === 'asking' ? standby : null]
  return open.flatMap((request) => (request === null ? [] : request.askedAtMs))
}

/** The node acknowledged the solution: from now on its block is due. */
export function expectBlock(t: Transition, fields: WorkFields): void {
  change(t, (known) => (sameParents(known, fields) ? { ...known, takenAtMs: t.atMs } : known))
  scheduleNext(t)
}

/** A cut shows which chains have a block where ours is due: whose it is, the follow-up tells. */
export function blocksSeen(t: Transition, cut: CutHeads): void {
  change(t, (known) => {
    return known.takenAtMs !== null && standingOf(cut, known) === 'passed' ? { ...known, takenAtMs: null } : known
  })
}

/** Work on top of the parents of blocks that are overdue is of use again. */
export function reopenOverdue(t: Transition): void {
  const overdue = t.state.solved.filter(({ takenAtMs }) => takenAtMs !== null && t.atMs >= takenAtMs + BLOCK_OVERDUE_MS)
  change(t, (known) => (overdue.includes(known) ? { ...known, takenAtMs: null, isOverdue: true } : known))
  const chains = overdue.map(({ chainId }) => chainId)
  t.set({ awaited: t.state.awaited.filter((chain) => !chains.includes(chain)) })
  scheduleNext(t)
  if (overdue.length > 0 && t.searched === null) hurry(t)
}

function scheduleNext(t: Transition): void {
  const taken = t.state.solved.flatMap(({ takenAtMs }) => takenAtMs ?? [])
  if (taken.length === 0) return
  const delayMs = Math.max(0, Math.min(...taken) + BLOCK_OVERDUE_MS - t.atMs)
  t.effects.push({ type: 'blockOverdueLater', delayMs })
}

function change(t: Transition, to: (known: SolvedWork) => SolvedWork): void {
  t.set({ solved: t.state.solved.map(to) })
}
