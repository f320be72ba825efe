/** Transitions of the current job: requested, checked, searched and ended. */
import type { Work } from '#ground/chain/work.ts'
import type { JobReason } from '../source.ts'
import { dropStandby, isRenewed, wantStandby } from './standby.ts'
import { type CurrentRequest, graverCheck, isUseful, type WorkNeed } from './state.ts'
import type { Transition } from './transition.ts'

/** Minimum interval between pauses that news ends, so that a node with constant news does not get constant requests. */
const MIN_HURRY_INTERVAL_MS = 250

/** Requests work to replace the current job, unless a request or a pause is active. */
export function askCurrent(t: Transition): void {
  const { asking, isPausing, awaited } = t.state
  if (isPausing) return
  if (asking !== null) {
    // Turn a running check into such a request.
    if (asking.check !== null) t.set({ asking: { ...asking, check: null } })
    return
  }
  const request = t.takeRequest()
  t.set({ asking: { request, askedAtMs: t.atMs, check: null, overtaken: new Set() } })
  t.effects.push({ type: 'ask', purpose: 'current', request, notAmong: awaited })
}

/** Checks whether the current job is still valid. */
export function checkCurrent(t: Transition, reason: JobReason): void {
  const { asking, isPausing, checkDue } = t.state
  const chain = t.searched
  if (chain === null) return
  const check = graverCheck(checkDue, reason)
  if (asking !== null || isPausing) {
    t.set({ checkDue: check })
    return
  }
  const request = t.takeRequest()
  t.set({ asking: { request, askedAtMs: t.atMs, check, overtaken: new Set() }, checkDue: null })
  t.effects.push({ type: 'ask', purpose: 'current', request, chain })
}

/** Makes the check that had to wait for another request. */
export function checkAgain(t: Transition): void {
  if (t.state.checkDue !== null) checkCurrent(t, t.state.checkDue)
}

/** Handles the end of the pause before the next request for current work. */
export function endPause(t: Transition): void {
  t.set({ isPausing: false })
  if (t.searched === null) {
    askCurrent(t)
    return
  }
  checkAgain(t)
}

/** Reacts to news: ends the pause, as there may be work now. */
export function hurry(t: Transition): void {
  const { isPausing, hurriedAtMs } = t.state
  if (isPausing && t.atMs - hurriedAtMs >= MIN_HURRY_INTERVAL_MS) {
    cancelPause(t)
    t.set({ hurriedAtMs: t.atMs })
  }
  askCurrent(t)
}

function cancelPause(t: Transition): void {
  if (!t.state.isPausing) return
  t.set({ isPausing: false })
  t.effects.push({ type: 'unpause' })
}

/** Pauses before the next request for current work, longer after each attempt. */
export function pauseCurrent(t: Transition): void {
  const attempts = t.state.attempts + 1
  t.set({ attempts, isPausing: true })
  t.effects.push({ type: 'pause', purpose: 'current', attempts })
}

/** Makes this the current job. */
export function startSearch(t: Transition, work: Work, need: WorkNeed): void {
  const { nextJob, asking, solved, awaited } = t.state
  const { chainId: chain, height } = work.fields
  const job = { id: nextJob, work }
  if (asking !== null) t.effects.push({ type: 'cancel', request: asking.request })
  cancelPause(t)
  t.set({
    current: { kind: 'searching', job },
    nextJob: nextJob + 1,
    asking: null,
    checkDue: null,
    attempts: 0,
    outdatedAnswers: 0,
    // The chain advanced, so solved work below is history.
    solved: solved.filter((known) => known.chainId !== chain || known.height >= height),
    awaited: awaited.filter((other) => other !== chain),
  })
  t.effects.push({ type: 'deliver', job, need }, { type: 'follow', chain })
  // Standby work is not new: refresh all work when it was due.
  if (need.reason !== 'better') t.effects.push({ type: 'refreshLater' })
  if (t.spare?.fields.chainId === chain) dropStandby(t)
  else if (t.state.standby.kind === 'none' || t.state.standby.kind === 'wanted') wantStandby(t)
}

/** Searches answered work. If its chain had news after the request, checks it at once, because it may be older. */
export function searchAnswer(
  t: Transition,
  { overtaken }: Pick<CurrentRequest, 'overtaken'>,
  work: Work,
  need: WorkNeed,
): void {
  startSearch(t, work, need)
  if (overtaken.has(work.fields.chainId)) checkCurrent(t, 'reconnected')
}

/** Ends the current job. The standby takes its place; without one there is nothing to search until work arrives. */
export function endCurrent(t: Transition, kind: 'solved' | 'lost', reason: JobReason): void {
  const { current, standby } = t.state
  if (current.kind !== 'searching') return
  const need = t.needOf(reason)
  t.set({ current: { kind, job: current.job, need } })
  const spare = t.spare
  if (spare !== null && isUseful(t.state, spare)) {
    if (standby.kind === 'asking') t.effects.push({ type: 'cancel', request: standby.request })
    t.set({ standby: { kind: 'none' } })
    startSearch(t, spare, need)
    // Its validity is being checked.
    if (isRenewed(standby)) checkCurrent(t, 'reconnected')
    return
  }
  t.effects.push({ type: 'idle' })
  // A single chain has no work before the node knows our solution; `taken` requests it then.
  if (kind === 'lost' || t.hasOtherChain(current.job.work.fields.chainId)) askCurrent(t)
}

/** Drops the request for current work, its check and its pause. */
export function forgetAsking(t: Transition): void {
  const { asking } = t.state
  if (asking !== null) t.effects.push({ type: 'cancel', request: asking.request })
  cancelPause(t)
  t.set({ asking: null, checkDue: null, attempts: 0 })
}
