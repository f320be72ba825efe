/** How long a node has given no work that was asked for. Pure. */
import { type Event, isAskedFor, isWorkOwed, type State, type WorkOverdue } from './state.ts'

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
