/** Decides which requests meet a situation, and whether the client then does its duty. Pure: requests carry the time. */
import type { StepFailure } from '../case-run.ts'
import { aimsOf, requestNameOf } from './aims.ts'
import { type ClientRequest, keysOf, lineOf } from './client-request.ts'
import { CHECKS_PER_SOLUTION, SOLUTION_CHECK_MS } from './http-rules.ts'
import { RetryInterval } from './repeat-pace.ts'
import type { ClientSituation } from './situation-file.ts'

/**
 * A situation in progress, or its outcome. A situation is
 *
 * 1. open: the usual answers before it are counted (`seen`);
 * 2. met: a request of the client gets its answer or fault (`met`, `count`);
 * 3. waiting: the answer has ended (`answeredMs`), and the next requests show whether the client does its duty;
 * 4. decided: passed, failed, suspected until the end, or given up because the client never came back.
 */
export interface SituationState {
  readonly situation: ClientSituation
  /** Requests of its endpoints that were answered as usual. */
  seen: number
  /** The first request that met it. */
  met: ClientRequest | null
  /** Requests that met it. */
  count: number
  /** Aim -> requests that met it. */
  readonly aims: Map<string, number>
  /** End of the last answer; null before it. */
  answeredMs: number | null
  /** Whether the client has gone on to something else. It may still come back. */
  hasMovedOn: boolean
  outcome: 'open' | 'passed' | StepFailure | SuspectedFault | UnmetObligation
}

/** The client repeated a request after odd answers. The end of the run shows whether it also repeats after usual ones. */
interface SuspectedFault {
  readonly suspected: StepFailure
}

/** The client has not come back. */
interface UnmetObligation {
  readonly gaveUp: StepFailure
}

/** Requests that get an odd form of an answer: a client that cannot read it asks more than once. */
const ODD_ANSWERS = 2

export class Situations {
  readonly states: readonly SituationState[]
  readonly #pace = new RetryInterval()

  constructor(situations: readonly ClientSituation[]) {
    this.states = situations.map((situation) => {
      const met = { met: null, count: 0, aims: new Map<string, number>(), answeredMs: null }
      return { situation, seen: 0, ...met, hasMovedOn: false, outcome: 'open' }
    })
  }

  /**
   * Judges a request by the situations that its client has met. Then returns the one that it meets itself, or null.
   *
   * @param solvedAtMs - times of the solutions so far
   */
  judgeRequest(request: ClientRequest, solvedAtMs: readonly number[]): SituationState | null {
    const id = request.operation?.id ?? ''
    this.#pace.recordRequest(request)
    const mine = this.states.filter(({ situation }) => situation.on.includes(id))
    let isDecisive = false
    for (const state of this.states) {
      if (!isWaiting(state)) continue
      judgeDuty(state, request, solvedAtMs)
      if (!isWaiting(state) && mine.includes(state)) isDecisive = true
    }
    const running = mine.find((state) => isRepeated(state, request))
    if (running !== undefined) return recordMeeting(running, request)
    // After each situation the client gets a usual answer.
    if (isDecisive) return null
    const waiting = mine.filter((state) => isWaiting(state) && !state.hasMovedOn)
    for (const state of waiting) state.hasMovedOn = state.answeredMs !== null && !isRepetitionBy('aim', state, request)
    // One situation at a time for each endpoint: the client must get an answer in between.
    const first = waiting.length > 0 ? undefined : mine.find(({ met, outcome }) => met === null && outcome === 'open')
    if (first === undefined) return null
    if (first.seen < (first.situation.after ?? 0)) {
      first.seen++
      return null
    }
    first.met = request
    return recordMeeting(first, request)
  }

  /** Records the end of a usual answer. */
  recordUsualAnswer(request: ClientRequest, nowMs: number): void {
    this.#pace.recordAnswer(request, nowMs)
  }

  /** Decides the situations that are still open at the end, because their client has not come back. */
  judgeEnd(nowMs: number): void {
    for (const state of this.states) {
      const { situation, met, outcome } = state
      if (typeof outcome === 'object' && 'suspected' in outcome) {
        const isHabit = this.#pace.repeatsWithin(met as ClientRequest, situation.never?.forMs ?? 0)
        state.outcome = isHabit ? 'passed' : outcome.suspected
      }
      if (!isWaiting(state)) continue
      if (situation.again === undefined) state.outcome = 'passed'
      else {
        const seconds = Math.max(0, Math.round((nowMs - (state.answeredMs ?? nowMs)) / 1000))
        state.outcome = {
          gaveUp: failureOf(met as ClientRequest, dutyOf(state), `none in the ${seconds} s until the end`),
        }
      }
    }
  }
}

const isWaiting = ({ outcome, met }: SituationState) => outcome === 'open' && met !== null

function recordMeeting(state: SituationState, request: ClientRequest): SituationState {
  state.count++
  state.answeredMs = null
  for (const aim of aimsOf(request)) state.aims.set(aim, (state.aims.get(aim) ?? 0) + 1)
  return state
}

/** Whether the situation also answers this request. */
function isRepeated(state: SituationState, request: ClientRequest): boolean {
  const { situation, met, count } = state
  if (!isWaiting(state) || met === null) return false
  if (situation.busyMs !== undefined) return request.atMs - met.atMs < situation.busyMs
  const isOdd = situation.never !== undefined && situation.never.evenLater !== true
  if (isOdd) return count < ODD_ANSWERS && requestNameOf(met) === requestNameOf(request)
  return count < (situation.times ?? 1) && isRepetitionBy(situation.again?.same ?? 'bytes', state, request)
}

function judgeDuty(state: SituationState, request: ClientRequest, solvedAtMs: readonly number[]): void {
  const { situation, met, answeredMs } = state
  if (met === null || answeredMs === null) return
  if (situation.never !== undefined) {
    judgeRepetition(state, request, solvedAtMs)
    return
  }
  if (situation.busyMs !== undefined && request.atMs - met.atMs < situation.busyMs) {
    if (!situation.on.includes(request.operation?.id ?? '')) return
    // A miner looks for each of its solutions, however busy the node is.
    const looks = solvedAtMs.filter((atMs) => atMs > met.atMs - SOLUTION_CHECK_MS).length * CHECKS_PER_SOLUTION
    const limit = (situation.most ?? 0) + (request.operation?.id === 'cut' ? looks : 0)
    const repetitions = Math.max(...aimsOf(request).map((aim) => state.aims.get(aim) ?? 0))
    const got = `${repetitions} more requests in ${Math.ceil(request.atMs - met.atMs)} ms`
    if (repetitions > limit) state.outcome = failureOf(met, dutyOf(state), got)
    return
  }
  const again = situation.again as NonNullable<ClientSituation['again']>
  if (!again.by.includes(request.operation?.id ?? '')) return
  if (isRepetitionBy(again.same, state, request)) {
    if (state.count >= (situation.times ?? 1)) state.outcome = 'passed'
    return
  }
  const isOther = again.same === 'key' && request.operation?.id === 'send' && met.operation?.id === 'send'
  if (!isOther || !isRepetitionBy('aim', state, request)) return
  state.outcome = failureOf(met, dutyOf(state), `another command for the same, ${keysOf(request).join(', ')}`)
}

function judgeRepetition(state: SituationState, request: ClientRequest, solvedAtMs: readonly number[]): void {
  const { situation, met, answeredMs, count } = state
  if (situation.never === undefined || met === null || answeredMs === null) return
  const pausedMs = request.atMs - answeredMs
  // A miner repeats requests to check its solutions, not because it could not read the answer.
  const isMiner = solvedAtMs.some((atMs) => request.atMs - atMs < SOLUTION_CHECK_MS)
  const isSoon = pausedMs <= situation.never.forMs && !isMiner
  const isRepetition = requestNameOf(met) === requestNameOf(request)
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
function dutyOf({ situation: { again, busyMs, most } }: SituationState): string {
  const pause = busyMs === undefined ? '' : `, and at most ${most} times in the first ${busyMs} ms`
  const what = {
    bytes: 'the same request again',
    key: `the same command again, or ${(again?.by ?? []).filter((id) => id !== 'send').join(' or ')} of its key`,
    operation: `${(again?.by ?? []).join(' or ')} again`,
  }[again?.same ?? 'bytes']
  return what + pause
}

/** Whether a request repeats one that met the situation. */
function isRepetitionBy(kind: string, { met, aims }: SituationState, request: ClientRequest): boolean {
  if (met === null) return false
  if (kind === 'operation') return true
  if (kind === 'aim') return aimsOf(request).some((aim) => aims.has(aim))
  if (kind === 'key') {
    const keys = keysOf(met)
    return keysOf(request).some((key) => keys.includes(key))
  }
  return requestNameOf(met) === requestNameOf(request)
}

function failureOf(met: ClientRequest, expected: string, got: string): StepFailure {
  return { step: met.number, call: lineOf(met), at: 'next request', expected, got }
}
