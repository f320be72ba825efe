/** Decides which requests meet a situation, and whether the client then does what it must. Pure: time comes with requests. */
import type { StepFailure } from '../case-run.ts'
import { aimsOf, requestNameOf } from './aims.ts'
import { type Asked, keysOf, lineOf } from './asked.ts'
import { Habits } from './habits.ts'
import { LOOKING_MS, LOOKS_PER_SOLUTION } from './http-rules.ts'
import type { ClientSituation } from './situation-file.ts'

/** A situation in progress, or its outcome. */
export interface SituationState {
  readonly situation: ClientSituation
  /** Requests of its endpoints that were answered as usual. */
  seen: number
  /** The first request that met it. */
  met: Asked | null
  /** Requests that met it. */
  count: number
  /** Aim -> requests that met it. */
  readonly aims: Map<string, number>
  /** End of the last answer; null before it. */
  answeredMs: number | null
  /** Whether the client has gone on to something else. It may still come back. */
  hasGoneOn: boolean
  outcome: 'open' | 'passed' | StepFailure | Suspicion | GivenUp
}

/** The client repeated a request after odd answers. The end decides whether it does so after usual ones too. */
interface Suspicion {
  readonly suspected: StepFailure
}

/** The client has not come back. */
interface GivenUp {
  readonly gaveUp: StepFailure
}

/** Requests that meet an odd form of an answer: a client that cannot read it asks more than once. */
const ODD_ANSWERS = 2

export class Situations {
  readonly states: readonly SituationState[]
  readonly #habits = new Habits()

  constructor(situations: readonly ClientSituation[]) {
    this.states = situations.map((situation) => {
      const met = { met: null, count: 0, aims: new Map<string, number>(), answeredMs: null }
      return { situation, seen: 0, ...met, hasGoneOn: false, outcome: 'open' }
    })
  }

  /**
   * Judges a request by the situations that its client has met. Then returns the one that it meets itself, or null.
   *
   * @param solvedAtMs - times of the solutions so far
   */
  next(asked: Asked, solvedAtMs: readonly number[]): SituationState | null {
    const id = asked.operation?.id ?? ''
    this.#habits.asked(asked)
    const mine = this.states.filter(({ situation }) => situation.on.includes(id))
    let isDecisive = false
    for (const state of this.states) {
      if (!isWaiting(state)) continue
      follow(state, asked, solvedAtMs)
      if (!isWaiting(state) && mine.includes(state)) isDecisive = true
    }
    const running = mine.find((state) => isRepeated(state, asked))
    if (running !== undefined) return meets(running, asked)
    // After each situation the client gets a usual answer.
    if (isDecisive) return null
    const waiting = mine.filter((state) => isWaiting(state) && !state.hasGoneOn)
    for (const state of waiting) state.hasGoneOn = state.answeredMs !== null && !isSame('aim', state, asked)
    // One situation at a time for each endpoint: the client must get an answer in between.
    const first = waiting.length > 0 ? undefined : mine.find(({ met, outcome }) => met === null && outcome === 'open')
    if (first === undefined) return null
    if (first.seen < (first.situation.after ?? 0)) {
      first.seen++
      return null
    }
    first.met = asked
    return meets(first, asked)
  }

  /** Keeps the end of a usual answer. */
  usual(asked: Asked, nowMs: number): void {
    this.#habits.answered(asked, nowMs)
  }

  /** Decides what waits for the end: a client that has not come back. */
  end(nowMs: number): void {
    for (const state of this.states) {
      const { situation, met, outcome } = state
      if (typeof outcome === 'object' && 'suspected' in outcome) {
        const isHabit = this.#habits.repeatsWithin(met as Asked, situation.never?.forMs ?? 0)
        state.outcome = isHabit ? 'passed' : outcome.suspected
      }
      if (!isWaiting(state)) continue
      if (situation.again === undefined) state.outcome = 'passed'
      else {
        const seconds = Math.max(0, Math.round((nowMs - (state.answeredMs ?? nowMs)) / 1000))
        state.outcome = { gaveUp: failureOf(met as Asked, wantedOf(state), `none in the ${seconds} s until the end`) }
      }
    }
  }
}

const isWaiting = ({ outcome, met }: SituationState) => outcome === 'open' && met !== null

function meets(state: SituationState, asked: Asked): SituationState {
  state.count++
  state.answeredMs = null
  for (const aim of aimsOf(asked)) state.aims.set(aim, (state.aims.get(aim) ?? 0) + 1)
  return state
}

/** Whether the request is one more of those that the situation answers. */
function isRepeated(state: SituationState, asked: Asked): boolean {
  const { situation, met, count } = state
  if (!isWaiting(state) || met === null) return false
  if (situation.busyMs !== undefined) return asked.atMs - met.atMs < situation.busyMs
  const isOdd = situation.never !== undefined && situation.never.evenLater !== true
  if (isOdd) return count < ODD_ANSWERS && requestNameOf(met) === requestNameOf(asked)
  return count < (situation.times ?? 1) && isSame(situation.again?.same ?? 'bytes', state, asked)
}

function follow(state: SituationState, asked: Asked, solvedAtMs: readonly number[]): void {
  const { situation, met, answeredMs } = state
  if (met === null || answeredMs === null) return
  if (situation.never !== undefined) {
    followNever(state, asked, solvedAtMs)
    return
  }
  if (situation.busyMs !== undefined && asked.atMs - met.atMs < situation.busyMs) {
    if (!situation.on.includes(asked.operation?.id ?? '')) return
    // A miner looks for each of its solutions, however busy the node is.
    const looks = solvedAtMs.filter((atMs) => atMs > met.atMs - LOOKING_MS).length * LOOKS_PER_SOLUTION
    const most = (situation.most ?? 0) + (asked.operation?.id === 'cut' ? looks : 0)
    const more = Math.max(...aimsOf(asked).map((aim) => state.aims.get(aim) ?? 0))
    const got = `${more} more requests in ${Math.ceil(asked.atMs - met.atMs)} ms`
    if (more > most) state.outcome = failureOf(met, wantedOf(state), got)
    return
  }
  const again = situation.again as NonNullable<ClientSituation['again']>
  if (!again.by.includes(asked.operation?.id ?? '')) return
  if (isSame(again.same, state, asked)) {
    if (state.count >= (situation.times ?? 1)) state.outcome = 'passed'
    return
  }
  const isOther = again.same === 'key' && asked.operation?.id === 'send' && met.operation?.id === 'send'
  if (!isOther || !isSame('aim', state, asked)) return
  state.outcome = failureOf(met, wantedOf(state), `another command for the same, ${keysOf(asked).join(', ')}`)
}

function followNever(state: SituationState, asked: Asked, solvedAtMs: readonly number[]): void {
  const { situation, met, answeredMs, count } = state
  if (situation.never === undefined || met === null || answeredMs === null) return
  const pausedMs = asked.atMs - answeredMs
  // A miner asks again for news of its solutions, not because it could not read the answer.
  const isMiner = solvedAtMs.some((atMs) => asked.atMs - atMs < LOOKING_MS)
  const isSoon = pausedMs <= situation.never.forMs && !isMiner
  const isRepetition = requestNameOf(met) === requestNameOf(asked)
  const failure = () => {
    const times = count > 1 ? `${count} times, the last` : 'the same again,'
    return failureOf(met, 'no repetition of this request', `${times} ${Math.round(pausedMs)} ms later`)
  }
  if (situation.never.evenLater === true) {
    if (!isSoon) state.outcome = 'passed'
    else if (isRepetition) state.outcome = failure()
    return
  }
  if (!isSoon || !isRepetition) state.outcome = 'passed'
  else if (count >= ODD_ANSWERS) state.outcome = { suspected: failure() }
}

/** The duty of the client, in words. */
function wantedOf({ situation: { again, busyMs, most } }: SituationState): string {
  const pause = busyMs === undefined ? '' : `, and at most ${most} times in the first ${busyMs} ms`
  const what = {
    bytes: 'the same request again',
    key: `the same command again, or ${(again?.by ?? []).filter((id) => id !== 'send').join(' or ')} of its key`,
    operation: `${(again?.by ?? []).join(' or ')} again`,
  }[again?.same ?? 'bytes']
  return what + pause
}

/** Whether a request repeats one that met the situation. */
function isSame(kind: string, { met, aims }: SituationState, asked: Asked): boolean {
  if (met === null) return false
  if (kind === 'operation') return true
  if (kind === 'aim') return aimsOf(asked).some((aim) => aims.has(aim))
  if (kind === 'key') {
    const keys = keysOf(met)
    return keysOf(asked).some((key) => keys.includes(key))
  }
  return requestNameOf(met) === requestNameOf(asked)
}

function failureOf(met: Asked, expected: string, got: string): StepFailure {
  return { step: met.number, call: lineOf(met), at: 'next request', expected, got }
}
