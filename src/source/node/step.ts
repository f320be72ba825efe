/** The transitions of the state machine in state.ts. */
import { sameParents, type WorkFields } from '../../core/header.ts'
import type { Work } from '../../core/work.ts'
import type { JobReason } from '../source.ts'
import { type Chances, isBetter } from './choice.ts'
import type { CutHeads } from './mining-node.ts'
import {
  type Asking,
  type Effect,
  type Event,
  graver,
  isOutdated,
  isSameJob,
  isUseful,
  MAX_SOLVED,
  type Need,
  reasonFor,
  type SolvedWork,
  type Standby,
  type State,
  searchedChain,
  spareOf,
  standingOf,
} from './state.ts'

/** News ends a pause no more often than this: a node that sends news all the time is not asked all the time. */
const MIN_HURRY_INTERVAL_MS = 250

/** What the machine is in after an event, and what is to be done. Pure. */
export function step(state: State, event: Event): [State, readonly Effect[]] {
  const machine = new Machine(state, event.atMs)
  machine.take(event)
  return [machine.state, machine.effects]
}

/** After so many cuts in a row behind our block its chain went back: the second was asked for after the block was seen. */
const BEHIND_CUTS = 2

/** One step: the state as it is so far, and the effects in order. */
class Machine {
  state: State
  readonly effects: Effect[] = []
  readonly #atMs: number

  constructor(state: State, atMs: number) {
    this.state = state
    this.#atMs = atMs
  }

  take(event: Event): void {
    switch (event.type) {
      case 'started':
        this.#set({ current: { kind: 'none', need: this.#need('start') } })
        this.#askCurrent()
        return
      case 'answered':
        this.#answered(event.request, event.work)
        return
      case 'failed':
        this.#failed(event.request, event.isFinal)
        return
      case 'paused':
        if (event.purpose === 'current') this.#pauseOver()
        else this.#standbyPauseOver()
        return
      case 'newCut':
        this.#newCut(event.chain)
        return
      case 'streamOpened':
        this.#streamOpened(event.chain)
        return
      case 'cutSeen':
        this.#cutSeen(event.cut)
        return
      case 'refreshDue':
        this.#refresh()
        return
      case 'chosen':
        this.#chosen(event.chains)
        return
      case 'viewed':
        this.#viewed(event.chances)
        return
      case 'handedIn':
        this.#handedIn(event.fields)
        return
      case 'taken':
        this.#taken()
        return
      case 'confirmed':
        this.#confirmed(event.fields)
        return
      case 'reopened':
        this.#reopen(event.fields)
        return
      case 'refused':
        this.#reopen(event.fields)
        this.#doubt()
        return
      case 'doubted':
        this.#doubt()
        return
    }
  }

  #set(change: Partial<State>): void {
    this.state = { ...this.state, ...change }
  }

  #need(reason: JobReason): Need {
    return { reason, noticedAtMs: this.#atMs }
  }

  #hasOtherChain(chain: number): boolean {
    return this.state.chains.some((other) => other !== chain)
  }

  // Requests

  #request(): number {
    const request = this.state.nextRequest
    this.#set({ nextRequest: request + 1 })
    return request
  }

  /** Asks for work that replaces the current one, unless that is under way or pausing. */
  #askCurrent(): void {
    const { asking, isPausing, awaited } = this.state
    if (isPausing) return
    if (asking !== null) {
      // A check under way serves as well: its answer is taken if it is of use.
      if (asking.check !== null) this.#set({ asking: { ...asking, check: null } })
      return
    }
    const request = this.#request()
    this.#set({ asking: { request, check: null, overtaken: new Set() } })
    this.effects.push({ type: 'ask', purpose: 'current', request, notAmong: awaited })
  }

  /** Asks whether the current job still stands. */
  #check(reason: JobReason): void {
    const { asking, isPausing, checkDue } = this.state
    const chain = searchedChain(this.state)
    if (chain === null) return
    const check = graver(checkDue, reason)
    if (asking !== null || isPausing) {
      this.#set({ checkDue: check })
      return
    }
    const request = this.#request()
    this.#set({ asking: { request, check, overtaken: new Set() }, checkDue: null })
    this.effects.push({ type: 'ask', purpose: 'current', request, chain })
  }

  #pauseOver(): void {
    this.#set({ isPausing: false })
    if (searchedChain(this.state) === null) {
      this.#askCurrent()
      return
    }
    if (this.state.checkDue !== null) this.#check(this.state.checkDue)
  }

  /** There is news: what a pause waits for may be there now. */
  #hurry(): void {
    const { isPausing, hurriedAtMs } = this.state
    if (isPausing && this.#atMs - hurriedAtMs >= MIN_HURRY_INTERVAL_MS) {
      this.#unpause()
      this.#set({ hurriedAtMs: this.#atMs })
    }
    this.#askCurrent()
  }

  #unpause(): void {
    if (!this.state.isPausing) return
    this.#set({ isPausing: false })
    this.effects.push({ type: 'unpause' })
  }

  #pause(): void {
    const attempts = this.state.attempts + 1
    this.#set({ attempts, isPausing: true })
    this.effects.push({ type: 'pause', purpose: 'current', attempts })
  }

  // Answers

  #answered(request: number, work: Work): void {
    const { asking, standby } = this.state
    if (asking?.request === request) {
      this.#answeredCurrent(asking, work)
      return
    }
    if (standby.kind === 'asking' && standby.request === request) this.#answeredStandby(standby, work)
  }

  #answeredCurrent(asking: Asking, work: Work): void {
    this.#set({ asking: null, hasHadWork: true })
    const { current } = this.state
    if (current.kind === 'searching') {
      this.#set({ attempts: 0 })
      this.effects.push({ type: 'refreshLater' })
      if (isSameJob(current.job.work, work) || !isUseful(this.state, work)) {
        this.#checkAgain()
        return
      }
      this.#searchAnswer(asking, work, this.#need(reasonFor(asking, current.job.work, work)))
      return
    }
    if (isOutdated(this.state, asking, work.fields)) this.#askCurrent()
    else if (!isUseful(this.state, work)) this.#pause()
    else this.#searchAnswer(asking, work, current.need)
  }

  /** There was news of its chain since it was asked for, so it may be older than that: it is checked at once. */
  #searchAnswer({ overtaken }: Pick<Asking, 'overtaken'>, work: Work, need: Need): void {
    this.#search(work, need)
    if (overtaken.has(work.fields.chainId)) this.#check('reconnected')
  }

  #checkAgain(): void {
    if (this.state.checkDue !== null) this.#check(this.state.checkDue)
  }

  #answeredStandby(asking: Standby & { readonly kind: 'asking' }, work: Work): void {
    const { chainId: chain } = work.fields
    const searched = searchedChain(this.state)
    this.#set({ standby: { kind: 'wanted' }, hasHadWork: true })
    // The engines have moved to the very chain meanwhile.
    if (searched === chain && asking.beside !== searched) {
      this.#wantStandby()
      return
    }
    const { current } = this.state
    if (searched === chain || !isUseful(this.state, work)) {
      this.#pauseStandby()
      // Other parents than those of the job: a chain has moved on, and the news of it may have come before the job.
      if (current.kind === 'searching' && searched === chain && !sameParents(current.job.work.fields, work.fields)) {
        this.#check('reconnected')
      }
      return
    }
    if (current.kind !== 'searching') {
      // The lost job once more: current work is asked for, and standby work after that.
      if (!isOutdated(this.state, asking, work.fields)) this.#searchAnswer(asking, work, current.need)
      return
    }
    this.#set({ standby: { kind: 'ready', work: this.#betterSpare(asking, work) } })
    this.effects.push({ type: 'follow', chain })
    if (asking.overtaken.has(chain)) this.#renewStandby()
    else this.#swap()
  }

  /** The node gave other work than it was asked for: what stood by meanwhile may be worth more. */
  #betterSpare({ spare, chain }: Standby & { readonly kind: 'asking' }, work: Work): Work {
    if (spare === null || chain === work.fields.chainId || chain === spare.fields.chainId) return work
    return isBetter(this.state.chances, spare.fields.chainId, work.fields.chainId) ? spare : work
  }

  #failed(request: number, isFinal: boolean): void {
    const { asking, standby, hasHadWork } = this.state
    if (asking?.request === request) {
      if (isFinal && !hasHadWork) {
        this.effects.push({ type: 'end' })
        return
      }
      this.#set({ asking: null, checkDue: graver(asking.check, this.state.checkDue) })
      this.#pause()
    } else if (standby.kind === 'asking' && standby.request === request) {
      const { spare } = standby
      this.#set({ standby: spare === null ? { kind: 'wanted' } : { kind: 'ready', work: spare, isDue: true } })
      this.#pauseStandby()
    }
  }

  // Current work

  /** Makes this the current job. */
  #search(work: Work, need: Need): void {
    const { nextJob, asking, solved, awaited } = this.state
    const { chainId: chain, height } = work.fields
    const job = { id: nextJob, work }
    if (asking !== null) this.effects.push({ type: 'cancel', request: asking.request })
    this.#unpause()
    this.#set({
      current: { kind: 'searching', job },
      nextJob: nextJob + 1,
      asking: null,
      checkDue: null,
      attempts: 0,
      // The chain moved on: what was solved below is history.
      solved: solved.filter((known) => known.chainId !== chain || known.height >= height),
      awaited: awaited.filter((other) => other !== chain),
    })
    this.effects.push({ type: 'deliver', job, need }, { type: 'follow', chain })
    // Work that stood by is not new: all of it is asked for anew when it was due.
    if (need.reason !== 'better') this.effects.push({ type: 'refreshLater' })
    if (spareOf(this.state)?.fields.chainId === chain) this.#dropStandby()
    else if (this.state.standby.kind === 'none' || this.state.standby.kind === 'wanted') this.#wantStandby()
  }

  /** The current job is over: the standby takes its place, or there is nothing to search until work comes. */
  #over(kind: 'solved' | 'lost', reason: JobReason): void {
    const { current, standby } = this.state
    if (current.kind !== 'searching') return
    const need = this.#need(reason)
    this.#set({ current: { kind, job: current.job, need } })
    const spare = spareOf(this.state)
    if (spare !== null && isUseful(this.state, spare)) {
      if (standby.kind === 'asking') this.effects.push({ type: 'cancel', request: standby.request })
      this.#set({ standby: { kind: 'none' } })
      this.#search(spare, need)
      // It was just asked whether it still stands.
      if (isRenewed(standby)) this.#check('reconnected')
      return
    }
    this.effects.push({ type: 'idle' })
    // A chain that is alone has no work before the node knows of our solution; `taken` asks then.
    if (kind === 'lost' || this.#hasOtherChain(current.job.work.fields.chainId)) this.#askCurrent()
  }

  // Standby work

  #wantStandby(): void {
    if (this.state.standby.kind !== 'asking') this.#askStandby(null, null)
  }

  #standbyPauseOver(): void {
    const { standby } = this.state
    if (standby.kind === 'wanted') this.#wantStandby()
    else if (standby.kind === 'ready' && standby.isDue) this.#renewStandby()
  }

  /** Asks for standby work of this chain, or of any but the current one. `spare` stands by meanwhile. */
  #askStandby(chain: number | null, spare: Work | null): void {
    const searched = searchedChain(this.state)
    if (searched === null || !this.#hasOtherChain(searched)) {
      this.#set({ standby: { kind: 'none' } })
      return
    }
    const request = this.#request()
    this.#set({ standby: { kind: 'asking', request, spare, chain, beside: searched, overtaken: new Set() } })
    const { awaited } = this.state
    this.effects.push(
      chain === null
        ? { type: 'ask', purpose: 'standby', request, notAmong: [searched, ...awaited] }
        : { type: 'ask', purpose: 'standby', request, chain },
    )
  }

  #pauseStandby(): void {
    this.effects.push({ type: 'pause', purpose: 'standby', attempts: 1 })
  }

  /** Drops standby work that is known to be of no use. */
  #dropStandby(): void {
    const { standby } = this.state
    if (standby.kind === 'ready') this.#set({ standby: { kind: 'wanted' } })
    else if (standby.kind === 'asking') this.#set({ standby: { ...standby, spare: null } })
    this.#wantStandby()
  }

  /** Asks for the same standby work again; it stands by until the answer comes. */
  #renewStandby(): void {
    const { standby } = this.state
    if (standby.kind === 'ready') this.#askStandby(standby.work.fields.chainId, standby.work)
  }

  // Chances

  #viewed(chances: Chances): void {
    this.#set({ chances })
    this.#swap()
    const { standby, awaited } = this.state
    const searched = searchedChain(this.state)
    if ((standby.kind !== 'ready' && standby.kind !== 'wanted') || searched === null) return
    const best = [...chances.keys()].find((chain) => chain !== searched && !awaited.includes(chain))
    const spare = spareOf(this.state)
    if (best === undefined || (spare !== null && !isBetter(chances, best, spare.fields.chainId))) return
    this.#askStandby(best, spare)
  }

  /** Current and standby work change places when a hash is worth more on the chain that stands by. */
  #swap(): void {
    const { current, standby, chances, asking, checkDue } = this.state
    if (current.kind !== 'searching' || standby.kind !== 'ready') return
    // Whether the current work still stands is to be told first.
    if (asking !== null || checkDue !== null) return
    const { work } = standby
    if (!isBetter(chances, work.fields.chainId, current.job.work.fields.chainId)) return
    this.#set({ standby: { kind: 'ready', work: current.job.work } })
    this.#search(work, this.#need('better'))
  }

  // Chains to mine

  /** What is searched, stands by or is under way may be of a chain that is no longer to be mined. */
  #chosen(chains: readonly number[]): void {
    const { chances, current } = this.state
    this.#set({ chains, chances: new Map([...chances].filter(([chain]) => chains.includes(chain))) })
    this.#reconsiderStandby()
    const searched = searchedChain(this.state)
    const isKept = searched !== null && chains.includes(searched)
    if (!isKept) this.#forgetAsking()
    if (isKept) {
      if (spareOf(this.state) === null) this.#wantStandby()
    } else if (current.kind === 'searching') this.#over('lost', 'chosen')
    else this.#askCurrent()
  }

  /** Standby work that is still of use stands by; what was asked for is not waited for. */
  #reconsiderStandby(): void {
    const { standby } = this.state
    const spare = spareOf(this.state)
    if (standby.kind === 'asking') this.effects.push({ type: 'cancel', request: standby.request })
    if (spare !== null && isUseful(this.state, spare)) this.#set({ standby: { kind: 'ready', work: spare } })
    else if (standby.kind !== 'none') this.#set({ standby: { kind: 'wanted' } })
  }

  #forgetAsking(): void {
    const { asking } = this.state
    if (asking !== null) this.effects.push({ type: 'cancel', request: asking.request })
    this.#unpause()
    this.#set({ asking: null, checkDue: null, attempts: 0 })
  }

  // News

  #newCut(chain: number): void {
    this.#overtake(chain)
    this.#moved(chain)
    if (spareOf(this.state)?.fields.chainId === chain) this.#dropStandby()
    if (searchedChain(this.state) === chain) {
      this.#over('lost', 'newCut')
      return
    }
    // The chain has new work, perhaps on top of our own block.
    if (searchedChain(this.state) === null) this.#hurry()
  }

  /** The chain moved on since we solved its work: it may have new work for us. */
  #moved(chain: number): void {
    this.#set({ awaited: this.state.awaited.filter((other) => other !== chain) })
  }

  /** What is on its way may be from before the news of this chain. */
  #overtake(chain: number): void {
    const { asking, standby, chances } = this.state
    if (chances.has(chain)) this.#set({ chances: new Map([...chances].filter(([other]) => other !== chain)) })
    if (asking !== null) this.#set({ asking: overtakenBy(asking, chain) })
    if (standby.kind === 'asking') this.#set({ standby: overtakenBy(standby, chain) })
  }

  /** What happened on the chain before its stream stood was missed. */
  #streamOpened(chain: number): void {
    this.#overtake(chain)
    if (searchedChain(this.state) === null) this.#hurry()
    if (searchedChain(this.state) === chain) this.#check('reconnected')
    if (spareOf(this.state)?.fields.chainId === chain) this.#renewStandby()
  }

  /** What streams should have told, and may not have. */
  #cutSeen(cut: CutHeads): void {
    for (const known of this.state.solved) {
      if (this.state.awaited.includes(known.chainId) && standingOf(cut, known) === 'passed') this.#newCut(known.chainId)
    }
    this.#lookBehind(cut)
    const spare = spareOf(this.state)
    if (spare !== null) this.#standbySeen(spare.fields.chainId, standingOf(cut, spare.fields))
    const { current } = this.state
    if (current.kind !== 'searching') return
    const standing = standingOf(cut, current.job.work.fields)
    if (standing === 'passed') this.#newCut(current.job.work.fields.chainId)
    // What was asked before the job came may be older than the job: work is asked for, and decides.
    else if (standing === 'replaced') this.#check('reconnected')
  }

  /** Finds chains that went back behind our blocks. */
  #lookBehind(cut: CutHeads): void {
    const seen = this.state.solved.map((known): SolvedWork => {
      if (known.behind === null) return known
      const isBehind = cut.has(known.chainId) && standingOf(cut, known) === 'stands'
      return { ...known, behind: isBehind ? known.behind + 1 : 0 }
    })
    this.#set({ solved: seen })
    for (const known of seen) if (known.behind === BEHIND_CUTS) this.#reopen(known)
  }

  #standbySeen(chain: number, standing: ReturnType<typeof standingOf>): void {
    if (standing === 'passed') this.#newCut(chain)
    else if (standing === 'replaced') this.#renewStandby()
  }

  /** Nodes forget work after some minutes: it is asked for again before that. */
  #refresh(): void {
    this.#check('refreshed')
    this.#renewStandby()
  }

  /** The node may have started anew, and forgotten the work that it gave. */
  #doubt(): void {
    this.#check('reconnected')
    this.#renewStandby()
    // What is on its way may have been given before.
    const { asking, standby, chains } = this.state
    if (asking !== null && searchedChain(this.state) === null)
      this.#set({ asking: { ...asking, overtaken: new Set(chains) } })
    if (standby.kind === 'asking' && standby.spare === null)
      this.#set({ standby: { ...standby, overtaken: new Set(chains) } })
  }

  // Solutions

  #handedIn(fields: WorkFields): void {
    const others = this.state.solved.filter((known) => !sameParents(known, fields))
    const awaited = [...this.state.awaited.filter((chain) => chain !== fields.chainId), fields.chainId]
    const known = { ...fields, behind: null }
    this.#set({ solved: [...others, known].slice(-MAX_SOLVED), awaited })
    const { current } = this.state
    const spare = spareOf(this.state)
    if (spare !== null && sameParents(spare.fields, fields)) this.#dropStandby()
    if (current.kind === 'searching' && sameParents(current.job.work.fields, fields)) this.#over('solved', 'solved')
  }

  /** The chain has new work now, or will have soon. */
  #taken(): void {
    if (searchedChain(this.state) === null) this.#hurry()
  }

  /** Its block is in its chain. */
  #confirmed(fields: WorkFields): void {
    const solved = this.state.solved.map((known) => (sameParents(known, fields) ? { ...known, behind: 0 } : known))
    this.#set({ solved })
    this.#moved(fields.chainId)
  }

  /** No block came of it: the work on top of its parent is of use again. */
  #reopen(fields: WorkFields): void {
    this.#set({ solved: this.state.solved.filter((known) => !sameParents(known, fields)) })
    this.#moved(fields.chainId)
    if (searchedChain(this.state) === null) this.#hurry()
  }
}

/** Whether the work that stands by is asked for anew, or is to be. */
function isRenewed(standby: Standby): boolean {
  if (standby.kind === 'ready') return standby.isDue === true
  return standby.kind === 'asking' && standby.spare !== null && standby.chain === standby.spare.fields.chainId
}

function overtakenBy<T extends { readonly overtaken: ReadonlySet<number> }>(asking: T, chain: number): T {
  return { ...asking, overtaken: new Set([...asking.overtaken, chain]) }
}
