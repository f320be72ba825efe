/** Transitions of the current job: it is asked for, checked, searched and over. */
import type { Work } from '../../core/work.ts'
import type { JobReason } from '../source.ts'
import { dropStandby, isRenewed, wantStandby } from './standby.ts'
import { type Asking, graver, isUseful, type Need } from './state.ts'
import type { Transition } from './transition.ts'

/** News ends a pause no more often than this: a node that sends news all the time is not asked all the time. */
const MIN_HURRY_INTERVAL_MS = 250

/** Asks for work that replaces the current one, unless that is under way or pausing. */
export function askCurrent(t: Transition): void {
  const { asking, isPausing, awaited } = t.state
  if (isPausing) return
  if (asking !== null) {
    // A check under way serves as well: its answer is taken if it is of use.
    if (asking.check !== null) t.set({ asking: { ...asking, check: null } })
    return
  }
  const request = t.takeRequest()
  t.set({ asking: { request, askedAtMs: t.atMs, check: null, overtaken: new Set() } })
  t.effects.push({ type: 'ask', purpose: 'current', request, notAmong: awaited })
}

/** Asks whether the current job still stands. */
export function checkCurrent(t: Transition, reason: JobReason): void {
  const { asking, isPausing, checkDue } = t.state
  const chain = t.searched
  if (chain === null) return
  const check = graver(checkDue, reason)
  if (asking !== null || isPausing) {
    t.set({ checkDue: check })
    return
  }
  const request = t.takeRequest()
  t.set({ asking: { request, askedAtMs: t.atMs, check, overtaken: new Set() }, checkDue: null })
  t.effects.push({ type: 'ask', purpose: 'current', request, chain })
}

/** Makes the check that was due while another request was under way. */
export function checkAgain(t: Transition): void {
  if (t.state.checkDue !== null) checkCurrent(t, t.state.checkDue)
}

/** The pause before the next request for current work is over. */
export function pauseOver(t: Transition): void {
  t.set({ isPausing: false })
  if (t.searched === null) {
    askCurrent(t)
    return
  }
  checkAgain(t)
}

/** There is news: what a pause waits for may be there now. */
export function hurry(t: Transition): void {
  const { isPausing, hurriedAtMs } = t.state
  if (isPausing && t.atMs - hurriedAtMs >= MIN_HURRY_INTERVAL_MS) {
    unpause(t)
    t.set({ hurriedAtMs: t.atMs })
  }
  askCurrent(t)
}

function unpause(t: Transition): void {
  if (!t.state.isPausing) return
  t.set({ isPausing: false })
  t.effects.push({ type: 'unpause' })
}

/** Waits before the next request for current work, longer after each attempt. */
export function pauseCurrent(t: Transition): void {
  const attempts = t.state.attempts + 1
  t.set({ attempts, isPausing: true })
  t.effects.push({ type: 'pause', purpose: 'current', attempts })
}

/** Makes this the current job. */
export function search(t: Transition, work: Work, need: Need): void {
  const { nextJob, asking, solved, awaited } = t.state
  const { chainId: chain, height } = work.fields
  const job = { id: nextJob, work }
  if (asking !== null) t.effects.push({ type: 'cancel', request: asking.request })
  unpause(t)
  t.set({
    current: { kind: 'searching', job },
    nextJob: nextJob + 1,
    asking: null,
    checkDue: null,
    attempts: 0,
    outdatedAnswers: 0,
    // The chain moved on: what was solved below is history.
    solved: solved.filter((known) => known.chainId !== chain || known.height >= height),
    awaited: awaited.filter((other) => other !== chain),
  })
  t.effects.push({ type: 'deliver', job, need }, { type: 'follow', chain })
  // Work that stood by is not new: all of it is asked for anew when it was due.
  if (need.reason !== 'better') t.effects.push({ type: 'refreshLater' })
  if (t.spare?.fields.chainId === chain) dropStandby(t)
  else if (t.state.standby.kind === 'none' || t.state.standby.kind === 'wanted') wantStandby(t)
}

/** There was news of its chain since it was asked for, so it may be older than that: it is checked at once. */
export function searchAnswer(t: Transition, { overtaken }: Pick<Asking, 'overtaken'>, work: Work, need: Need): void {
  search(t, work, need)
  if (overtaken.has(work.fields.chainId)) checkCurrent(t, 'reconnected')
}

/** The current job is over: the standby takes its place, or there is nothing to search until work comes. */
export function endCurrent(t: Transition, kind: 'solved' | 'lost', reason: JobReason): void {
  const { current, standby } = t.state
  if (current.kind !== 'searching') return
  const need = t.need(reason)
  t.set({ current: { kind, job: current.job, need } })
  const spare = t.spare
  if (spare !== null && isUseful(t.state, spare)) {
    if (standby.kind === 'asking') t.effects.push({ type: 'cancel', request: standby.request })
    t.set({ standby: { kind: 'none' } })
    search(t, spare, need)
    // It was just asked whether it still stands.
    if (isRenewed(standby)) checkCurrent(t, 'reconnected')
    return
  }
  t.effects.push({ type: 'idle' })
  // A chain that is alone has no work before the node knows of our solution; `taken` asks then.
  if (kind === 'lost' || t.hasOtherChain(current.job.work.fields.chainId)) askCurrent(t)
}

/** Drops the request for current work, its check and its pause. */
export function forgetAsking(t: Transition): void {
  const { asking } = t.state
  if (asking !== null) t.effects.push({ type: 'cancel', request: asking.request })
  unpause(t)
  t.set({ asking: null, checkDue: null, attempts: 0 })
}
