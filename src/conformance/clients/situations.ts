/** Decides which requests meet a situation, and whether the client then does what it must. Pure: time comes with requests. */
import type { StepFailure } from '../case-run.ts'
import { type Asked, keysOf, lineOf } from './asked.ts'
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
  /** End of the last answer; null before it. */
  answeredMs: number | null
  /** `gave-up`: the client has not come back, and may do so. */
  outcome: 'open' | 'passed' | 'gave-up' | StepFailure
}

export class Situations {
  readonly states: readonly SituationState[]

  constructor(situations: readonly ClientSituation[]) {
    this.states = situations.map((situation) => {
      return { situation, seen: 0, met: null, count: 0, answeredMs: null, outcome: 'open' }
    })
  }

  /**
   * Judges a request by the situations that its client has met. Then returns the one that it meets itself, or null.
   *
   * @param solvedAtMs - times of the solutions so far
   */
  next(asked: Asked, solvedAtMs: readonly number[]): SituationState | null {
    const id = asked.operation?.id ?? ''
    let isDecisive = false
    for (const state of this.states) {
      if (state.outcome !== 'open' || state.met === null) continue
      follow(state, asked, solvedAtMs)
      if (state.outcome !== 'open' && state.situation.on.includes(id)) isDecisive = true
    }
    const running = this.states.find((state) => isRepeated(state, asked))
    if (running !== undefined) {
      running.count++
      running.answeredMs = null
      return running
    }
    // After each situation the client gets a usual answer.
    if (isDecisive) return null
    const mine = this.states.filter(({ situation, outcome }) => outcome === 'open' && situation.on.includes(id))
    // One situation at a time for each endpoint: the client must get an answer in between.
    const first = mine.some(({ met }) => met !== null) ? undefined : mine[0]
    if (first === undefined) return null
    if (first.seen < (first.situation.after ?? 0)) {
      first.seen++
      return null
    }
    first.met = asked
    first.count = 1
    return first
  }

  /** Decides what waits for the end: a client that has not come back. */
  end(nowMs: number): void {
    for (const state of this.states) {
      if (state.outcome !== 'open' || state.met === null) continue
      const { again } = state.situation
      if (again === undefined) state.outcome = 'passed'
      else if (state.situation.mayGiveUp === true) state.outcome = 'gave-up'
      else {
        const seconds = Math.max(0, Math.round((nowMs - (state.answeredMs ?? nowMs)) / 1000))
        state.outcome = failureOf(state.met, `${wantedOf(state)}`, `none in the ${seconds} s until the end`)
      }
    }
  }
}

/** Whether the request is one more of those that the situation answers. */
function isRepeated({ situation, met, count, outcome }: SituationState, asked: Asked): boolean {
  if (met === null || outcome !== 'open' || !situation.on.includes(asked.operation?.id ?? '')) return false
  return situation.busyMs === undefined ? count < (situation.times ?? 1) : asked.atMs - met.atMs < situation.busyMs
}

function follow(state: SituationState, asked: Asked, solvedAtMs: readonly number[]): void {
  const { situation, met, answeredMs } = state
  if (met === null || answeredMs === null) return
  const pausedMs = asked.atMs - answeredMs
  if (situation.never !== undefined) {
    // A miner asks again for news of its solutions, not because it could not read the answer.
    const isMiner = solvedAtMs.some((atMs) => asked.atMs - atMs < LOOKING_MS)
    if (pausedMs > situation.never.forMs || isMiner) state.outcome = 'passed'
    else if (isSame('bytes', met, asked)) {
      const got = `the same again, ${Math.round(pausedMs)} ms later`
      state.outcome = failureOf(met, 'no repetition of this request', got)
    } else if (situation.never.evenLater !== true) state.outcome = 'passed'
    return
  }
  if (situation.busyMs !== undefined && asked.atMs - met.atMs < situation.busyMs) {
    // A miner looks for each of its solutions, however busy the node is.
    const looks = solvedAtMs.filter((atMs) => atMs > met.atMs - LOOKING_MS).length * LOOKS_PER_SOLUTION
    const most = (situation.most ?? 0) + (asked.operation?.id === 'cut' ? looks : 0)
    const isMore = situation.on.includes(asked.operation?.id ?? '') && state.count > most
    const got = `${state.count} more requests in ${Math.ceil(asked.atMs - met.atMs)} ms`
    if (isMore) state.outcome = failureOf(met, wantedOf(state), got)
    return
  }
  const again = situation.again as NonNullable<ClientSituation['again']>
  if (!again.by.includes(asked.operation?.id ?? '')) return
  if (isSame(again.same, met, asked)) {
    if (state.count >= (situation.times ?? 1)) state.outcome = 'passed'
    return
  }
  const isOther = again.same === 'key' && asked.operation?.id === 'send' && met.operation?.id === 'send'
  if (isOther) state.outcome = failureOf(met, wantedOf(state), `another command, ${keysOf(asked).join(', ')}`)
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

function isSame(kind: string, met: Asked, asked: Asked): boolean {
  if (kind === 'operation') return true
  if (kind === 'key') {
    const keys = keysOf(met)
    return keysOf(asked).some((key) => keys.includes(key))
  }
  return lineOf(met) === lineOf(asked) && met.body.equals(asked.body)
}

function failureOf(met: Asked, expected: string, got: string): StepFailure {
  return { step: met.number, call: lineOf(met), at: 'next request', expected, got }
}
