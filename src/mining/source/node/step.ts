/** Transitions of the state machine in state.ts: dispatches events, and handles the answers of the node. */
import { sameParents } from '#ground/chain/header.ts'
import type { Work } from '#ground/chain/work.ts'
import { type ExpectedRewards, isBetter } from './choice.ts'
import {
  askCurrent,
  checkAgain,
  checkCurrent,
  endCurrent,
  endPause,
  forgetAsking,
  pauseCurrent,
  searchAnswer,
  startSearch,
} from './current.ts'
import { acknowledge, advanceChain, compareCut, confirm, openStream, reopen, startSubmission } from './outcomes.ts'
import { overdueAfter, reopenOverdue } from './overdue.ts'
import { countSuspicion, suspectRestart } from './restart-suspicion.ts'
import {
  askStandby,
  chooseSpare,
  pauseStandby,
  reconsiderStandby,
  renewStandby,
  standbyPauseOver,
  wantStandby,
} from './standby.ts'
import {
  type CurrentRequest,
  type Effect,
  type Event,
  graverCheck,
  isOutdated,
  isSameJob,
  isUseful,
  reasonFor,
  type Standby,
  type State,
} from './state.ts'
import { Transition } from './transition.ts'

/** After this many answers with the lost job, a node with constant news is believed. */
const MAX_OUTDATED = 3

/**
 * Pure.
 * @returns the state after an event, and the effects to perform
 */
export function step(state: State, event: Event): [State, readonly Effect[]] {
  const t = new Transition(state, event.atMs)
  dispatch(t, event)
  t.set({ overdue: overdueAfter(state, event, t.state) })
  return [t.state, t.effects]
}

/** Dispatches the event. */
function dispatch(t: Transition, event: Event): void {
  switch (event.type) {
    case 'started':
      t.set({ current: { kind: 'none', need: t.needOf('start') } })
      askCurrent(t)
      return
    case 'answered':
      handleAnswer(t, event.request, event.work)
      return
    case 'failed':
      handleFailure(t, event.request, event.isFinal)
      return
    case 'paused':
      if (event.purpose === 'current') endPause(t)
      else standbyPauseOver(t)
      return
    case 'newCut':
      advanceChain(t, event.chain)
      return
    case 'streamOpened':
      openStream(t, event.chain)
      return
    case 'cutSeen':
      compareCut(t, event.cut)
      return
    case 'refreshDue':
      refresh(t)
      return
    case 'chosen':
      changeChains(t, event.chains)
      return
    case 'viewed':
      updateRewards(t, event.chances)
      return
    case 'submitted':
      startSubmission(t, event.fields)
      return
    case 'acknowledged':
      acknowledge(t, event.fields)
      return
    case 'confirmed':
      confirm(t, event.fields)
      return
    case 'reopened':
      reopen(t, event.fields)
      return
    case 'refused':
      reopen(t, event.fields)
      requestAgain(t)
      return
    case 'restartSuspected':
      if (suspectRestart(t)) requestAgain(t)
      return
    case 'suspicionDue':
      countSuspicion(t)
      requestAgain(t)
      return
    case 'blockOverdue':
      reopenOverdue(t)
      return
  }
}

function handleAnswer(t: Transition, request: number, work: Work): void {
  const { asking, standby } = t.state
  if (asking?.request === request) {
    handleCurrentAnswer(t, asking, work)
    return
  }
  if (standby.kind === 'asking' && standby.request === request) handleStandbyAnswer(t, standby, work)
}

function handleCurrentAnswer(t: Transition, asking: CurrentRequest, work: Work): void {
  t.set({ asking: null, hasHadWork: true })
  const { current } = t.state
  if (current.kind === 'searching') {
    t.set({ attempts: 0 })
    t.effects.push({ type: 'refreshLater' })
    if (isSameJob(current.job.work, work) || !isUseful(t.state, work)) {
      checkAgain(t)
      return
    }
    searchAnswer(t, asking, work, t.needOf(reasonFor(asking, current.job.work, work)))
    return
  }
  if (isOutdated(t.state, asking, work.fields) && t.state.outdatedAnswers < MAX_OUTDATED) {
    t.set({ outdatedAnswers: t.state.outdatedAnswers + 1 })
    askCurrent(t)
  } else if (!isUseful(t.state, work)) pauseCurrent(t)
  else searchAnswer(t, asking, work, current.need)
}

function handleStandbyAnswer(t: Transition, asking: Standby & { readonly kind: 'asking' }, work: Work): void {
  const { chainId: chain } = work.fields
  const searched = t.searched
  t.set({ standby: { kind: 'wanted' }, hasHadWork: true })
  // Meanwhile the engines moved to this very chain.
  if (searched === chain && asking.beside !== searched) {
    wantStandby(t)
    return
  }
  const { current } = t.state
  if (searched === chain || !isUseful(t.state, work)) {
    pauseStandby(t)
    // Its parents differ from those of the job: a chain advanced, perhaps unnoticed before the job arrived.
    if (current.kind === 'searching' && searched === chain && !sameParents(current.job.work.fields, work.fields)) {
      checkCurrent(t, 'reconnected')
    }
    return
  }
  if (current.kind !== 'searching') {
    // It repeats the lost job. Current work is being requested, and standby work follows.
    if (!isOutdated(t.state, asking, work.fields)) searchAnswer(t, asking, work, current.need)
    return
  }
  t.set({ standby: { kind: 'ready', work: chooseSpare(t, asking, work) } })
  t.effects.push({ type: 'follow', chain })
  if (asking.overtaken.has(chain)) renewStandby(t)
  else swap(t)
}

function handleFailure(t: Transition, request: number, isFinal: boolean): void {
  const { asking, standby, hasHadWork } = t.state
  if (asking?.request === request) {
    if (isFinal && !hasHadWork) {
      t.effects.push({ type: 'end' })
      return
    }
    t.set({ asking: null, checkDue: graverCheck(asking.check, t.state.checkDue) })
    pauseCurrent(t)
  } else if (standby.kind === 'asking' && standby.request === request) {
    const { spare } = standby
    t.set({ standby: spare === null ? { kind: 'wanted' } : { kind: 'ready', work: spare, isDue: true } })
    pauseStandby(t)
  }
}

function updateRewards(t: Transition, chances: ExpectedRewards): void {
  t.set({ rewards: chances })
  swap(t)
  const { standby, awaited } = t.state
  const searched = t.searched
  if ((standby.kind !== 'ready' && standby.kind !== 'wanted') || searched === null) return
  const best = [...chances.keys()].find((chain) => chain !== searched && !awaited.includes(chain))
  const spare = t.spare
  if (best === undefined || (spare !== null && !isBetter(chances, best, spare.fields.chainId))) return
  askStandby(t, best, spare)
}

/** Swaps current and standby work if the expected reward on the standby chain is higher. */
function swap(t: Transition): void {
  const { current, standby, rewards: chances, asking, checkDue } = t.state
  if (current.kind !== 'searching' || standby.kind !== 'ready') return
  // First decide whether the current work is still valid.
  if (asking !== null || checkDue !== null) return
  const { work } = standby
  if (!isBetter(chances, work.fields.chainId, current.job.work.fields.chainId)) return
  t.set({ standby: { kind: 'ready', work: current.job.work } })
  startSearch(t, work, t.needOf('better'))
}

/** Drops work and requests of chains that are not mined any more. */
function changeChains(t: Transition, chains: readonly number[]): void {
  const { rewards: chances, current } = t.state
  t.set({ chains, rewards: new Map([...chances].filter(([chain]) => chains.includes(chain))) })
  reconsiderStandby(t)
  const searched = t.searched
  const isKept = searched !== null && chains.includes(searched)
  if (!isKept) forgetAsking(t)
  if (isKept) {
    if (t.spare === null) wantStandby(t)
  } else if (current.kind === 'searching') endCurrent(t, 'lost', 'chosen')
  else askCurrent(t)
}

/** Renews all work, because nodes forget it after some minutes. */
function refresh(t: Transition): void {
  checkCurrent(t, 'refreshed')
  renewStandby(t)
}

/** Requests all work again, because the node may have restarted and forgotten it. */
function requestAgain(t: Transition): void {
  checkCurrent(t, 'reconnected')
  renewStandby(t)
  // Answers on their way may be from before the restart.
  const { asking, standby, chains } = t.state
  if (asking !== null && t.searched === null) t.set({ asking: { ...asking, overtaken: new Set(chains) } })
  if (standby.kind === 'asking' && standby.spare === null)
    t.set({ standby: { ...standby, overtaken: new Set(chains) } })
}
