/** Transitions after news of the chains: solutions, their outcomes, streams and cuts. */
import { sameParents, type WorkFields } from '#ground/chain/header.ts'
import { checkCurrent, endCurrent, hurry } from './current.ts'
import type { CutHeads } from './mining-node.ts'
import { clearSeenBlocks, expectBlock } from './overdue.ts'
import { dropStandby, renewStandby } from './standby.ts'
import { MAX_SOLVED, type SolvedWork, standingOf } from './state.ts'
import type { Transition } from './transition.ts'

/**
 * Number of consecutive cuts behind our block that prove a rollback: the second was requested after the block was seen.
 */
const BEHIND_CUTS = 2

/** A solution is being submitted: work on the same parents is probably useless now. */
export function startSubmission(t: Transition, fields: WorkFields): void {
  const others = t.state.solved.filter((known) => !sameParents(known, fields))
  const awaited = [...t.state.awaited.filter((chain) => chain !== fields.chainId), fields.chainId]
  const known = { ...fields, cutsBelow: null, takenAtMs: null, isOverdue: false }
  t.set({ solved: [...others, known].slice(-MAX_SOLVED), awaited })
  const { current } = t.state
  const spare = t.spare
  if (spare !== null && sameParents(spare.fields, fields)) dropStandby(t)
  if (current.kind === 'searching' && sameParents(current.job.work.fields, fields)) endCurrent(t, 'solved', 'solved')
}

/** The node acknowledged the solution: its chain has new work, or will soon. */
export function acknowledge(t: Transition, fields: WorkFields): void {
  expectBlock(t, fields)
  if (t.searched === null) hurry(t)
}

/** The block of the solution is in its chain. */
export function confirm(t: Transition, fields: WorkFields): void {
  const confirmation = { cutsBelow: 0, takenAtMs: null, isOverdue: false }
  const solved = t.state.solved.map((known) => (sameParents(known, fields) ? { ...known, ...confirmation } : known))
  t.set({ solved })
  const { current } = t.state
  const searched = current.kind === 'searching' ? current.job.work : null
  // It was overdue, so work on the same parents was requested.
  const isInVain = [searched, t.spare].some((work) => work !== null && sameParents(work.fields, fields))
  if (isInVain) advanceChain(t, fields.chainId)
  else allowChain(t, fields.chainId)
}

/** No block came of it: work on its parent is useful again. */
export function reopen(t: Transition, fields: WorkFields): void {
  t.set({ solved: t.state.solved.filter((known) => !sameParents(known, fields)) })
  allowChain(t, fields.chainId)
  if (t.searched === null) hurry(t)
}

/** The chain advanced. */
export function advanceChain(t: Transition, chain: number): void {
  forgetChance(t, chain)
  overtake(t, chain)
  allowChain(t, chain)
  if (t.spare?.fields.chainId === chain) dropStandby(t)
  if (t.searched === chain) {
    endCurrent(t, 'lost', 'newCut')
    return
  }
  // The chain has new work, perhaps on top of our own block.
  if (t.searched === null) hurry(t)
}

/** Allows the chain again for our work: it advanced after we solved its work. */
function allowChain(t: Transition, chain: number): void {
  t.set({ awaited: t.state.awaited.filter((other) => other !== chain) })
}

/** Forgets the expected reward on a chain: it was that of the former head. */
function forgetChance(t: Transition, chain: number): void {
  const { rewards: chances } = t.state
  if (chances.has(chain)) t.set({ rewards: new Map([...chances].filter(([other]) => other !== chain)) })
}

/** Marks pending requests: their answers may be older than the news of this chain. */
function overtake(t: Transition, chain: number): void {
  const { asking, standby } = t.state
  if (asking !== null) t.set({ asking: markOvertaken(asking, chain) })
  if (standby.kind === 'asking') t.set({ standby: markOvertaken(standby, chain) })
}

/**
 * Events of the chain before its stream opened were missed. Its expected reward is kept, since usually it has not
 * moved: without one, any other chain would seem better.
 */
export function openStream(t: Transition, chain: number): void {
  overtake(t, chain)
  if (t.searched === null) hurry(t)
  if (t.searched === chain) checkCurrent(t, 'reconnected')
  if (t.spare?.fields.chainId === chain) renewStandby(t)
}

/** Handles news that streams should have delivered, but may not have. */
export function compareCut(t: Transition, cut: CutHeads): void {
  for (const known of t.state.solved) {
    if (t.state.awaited.includes(known.chainId) && standingOf(cut, known) === 'passed') advanceChain(t, known.chainId)
  }
  clearSeenBlocks(t, cut)
  findRollbacks(t, cut)
  const spare = t.spare
  if (spare !== null) compareStandby(t, spare.fields.chainId, standingOf(cut, spare.fields))
  const { current } = t.state
  if (current.kind !== 'searching') return
  const standing = standingOf(cut, current.job.work.fields)
  if (standing === 'passed') advanceChain(t, current.job.work.fields.chainId)
  // Earlier requests may be older than the job, so a new check decides.
  else if (standing === 'replaced') checkCurrent(t, 'reconnected')
}

/** Finds chains that rolled back behind our blocks. */
function findRollbacks(t: Transition, cut: CutHeads): void {
  const seen = t.state.solved.map((known): SolvedWork => {
    if (known.cutsBelow === null) return known
    const isBehind = cut.has(known.chainId) && standingOf(cut, known) === 'stands'
    return { ...known, cutsBelow: isBehind ? known.cutsBelow + 1 : 0 }
  })
  t.set({ solved: seen })
  for (const known of seen) if (known.cutsBelow === BEHIND_CUTS) reopen(t, known)
}

function compareStandby(t: Transition, chain: number, standing: ReturnType<typeof standingOf>): void {
  if (standing === 'passed') advanceChain(t, chain)
  else if (standing === 'replaced') renewStandby(t)
}

function markOvertaken<T extends { readonly overtaken: ReadonlySet<number> }>(asking: T, chain: number): T {
  return { ...asking, overtaken: new Set([...asking.overtaken, chain]) }
}
