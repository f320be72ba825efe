/**
 * Blocks of solutions that a node acknowledged, and that do not come. A node may drop a solution without a word
 * (PROTOCOL.md A.2): then its chain waits for a block that never comes. After a few seconds the chain is searched again,
 * and the solution is followed on: it is not handed in again, and if its block comes after all, the new work is over.
 */
import type { WorkFields } from '../../core/header.ts'
import { sameParents } from '../../core/header.ts'
import { hurry } from './current.ts'
import type { CutHeads } from './mining-node.ts'
import { type SolvedWork, standingOf } from './state.ts'
import type { Transition } from './transition.ts'

/** A live node adds a solved block within about a second. Longer, and the chain is searched again; 5 s with the new work. */
export const BLOCK_OVERDUE_MS = 4_000

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
