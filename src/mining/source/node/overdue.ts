/**
 * Overdue answers of a node: requested work, and blocks of acknowledged solutions. Pure.
 *
 * A node may silently drop a solution (PROTOCOL.md A.2); its chain would then wait for a block that never comes. So the
 * chain is searched again after a few seconds. The solution is still followed, but not submitted again. If its block
 * arrives after all, the new work is over.
 */
import { sameParents, type WorkFields } from '#ground/chain/header.ts'
import { hurry } from './current.ts'
import type { CutHeads } from './mining-node.ts'
import {
  type Event,
  isRequested,
  isWorkOwed,
  type SolvedWork,
  type State,
  standingOf,
  type WorkOverdue,
} from './state.ts'
import type { Transition } from './transition.ts'

/**
 * A live node adds a solved block within about a second. After this time the chain is searched again; with new work, in
 * 5 s.
 */
export const BLOCK_OVERDUE_MS = 4_000

/** Time for which requests for work have failed, or the node has owed work, in milliseconds; 0 if neither. */
export function overdueMs({ overdue }: State, nowMs: number): number {
  const sinceMs = Math.min(overdue.failingSinceMs ?? Infinity, overdue.owedSinceMs ?? Infinity)
  return Math.max(0, nowMs - sinceMs)
}

/**
 * Updates the overdue times after an event.
 * @param before state before the event
 * @param after state after it, without this update
 */
export function overdueAfter(before: State, event: Event, after: State): WorkOverdue {
  const { failingSinceMs, owedSinceMs, givenAtMs } = overdueTimesAfter(before, event)
  // From the oldest unanswered request, but not before the last answer.
  const unansweredMs = Math.max(givenAtMs, Math.min(event.atMs, ...requestedAtMs(before)))
  return {
    givenAtMs,
    owedSinceMs: isWorkOwed(after) ? (owedSinceMs ?? unansweredMs) : null,
    // Without a request, the current work was not refused.
    failingSinceMs: isRequested(after) ? failingSinceMs : null,
  }
}

/** Any answer clears both times, even an unwanted one. A failed request for current work starts one. */
function overdueTimesAfter({ overdue, asking }: State, event: Event): WorkOverdue {
  if (event.type === 'answered') return { failingSinceMs: null, owedSinceMs: null, givenAtMs: event.atMs }
  if (event.type !== 'failed' || asking?.request !== event.request) return overdue
  return { ...overdue, failingSinceMs: overdue.failingSinceMs ?? asking.askedAtMs }
}

/** Times of the unanswered requests. */
function requestedAtMs({ asking, standby }: State): number[] {
  const open = [asking, standby.kind === 'asking' ? standby : null]
  return open.flatMap((request) => (request === null ? [] : request.askedAtMs))
}

/** The node acknowledged the solution, so its block is due. */
export function expectBlock(t: Transition, fields: WorkFields): void {
  mapSolved(t, (known) => (sameParents(known, fields) ? { ...known, takenAtMs: t.atMs } : known))
  scheduleNext(t)
}

/** Clears blocks whose height a cut shows as taken. The follow-up tells by which block. */
export function clearSeenBlocks(t: Transition, cut: CutHeads): void {
  mapSolved(t, (known) => {
    return known.takenAtMs !== null && standingOf(cut, known) === 'passed' ? { ...known, takenAtMs: null } : known
  })
}

/** Allows work on the parents of overdue blocks again. */
export function reopenOverdue(t: Transition): void {
  const overdue = t.state.solved.filter(({ takenAtMs }) => takenAtMs !== null && t.atMs >= takenAtMs + BLOCK_OVERDUE_MS)
  mapSolved(t, (known) => (overdue.includes(known) ? { ...known, takenAtMs: null, isOverdue: true } : known))
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

function mapSolved(t: Transition, to: (known: SolvedWork) => SolvedWork): void {
  t.set({ solved: t.state.solved.map(to) })
}
