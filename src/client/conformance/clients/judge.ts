/** The verdict about a client: every rule and every situation is a case. */
import { printable } from '#ground/base/printable.ts'
import type { StepFailure } from '../case-run.ts'
import type { CaseResult } from '../run.ts'
import { ClientHistory, type ServedNetwork } from './client-history.ts'
import { type ClientAnswer, type ClientRequest, lineOf } from './client-request.ts'
import { commandRules, reportFormatErrors } from './command-rules.ts'
import { type ClientRule, httpRules } from './http-rules.ts'
import { miningRules } from './mining-rules.ts'
import type { ClientSituation } from './situation-file.ts'
import { type SituationState, Situations } from './situations.ts'

/** Rules by the group of cases that they form. */
const ruleGroups: Readonly<Record<string, readonly ClientRule[]>> = {
  requests: httpRules,
  commands: commandRules.map(reportFormatErrors),
  mining: miningRules,
}

/** The rules that every request is judged by, with their groups. */
export const clientRules = Object.entries(ruleGroups).flatMap(([group, rules]) =>
  rules.map((rule) => ({ group, rule })),
)

const FRAMES: ClientRule = {
  name: 'requests are HTTP, and their bodies have a length',
  source: 'RFC 9112; PROTOCOL.md A.1',
  judge: () => null,
}

/** Record of a rule: the number of requests that it concerned, the first that broke it, and the number that did. */
interface RuleState {
  readonly group: string
  readonly rule: ClientRule
  concerned: number
  broken: number
  first: CaseResult['failure']
}

/** A result of a rule or a situation. */
export interface ClientResult extends CaseResult {
  /** The duty that a client left undone when it ended, if its caller has to retry; null otherwise. */
  readonly gaveUp: StepFailure | null
}

interface AnswerEnd {
  readonly nowMs: number
  readonly isSent: boolean
}

const LOSES_NOTHING = 'the client gave up, which loses nothing here'
const GAVE_UP = 'the client gave up; retrying is left to its caller'
const NOT_ASKED = 'the client made no such request'
const TOO_FEW = 'the client made too few such requests: --only chooses one of them'

export class ClientJudge {
  readonly #history: ClientHistory
  readonly #situations: Situations
  readonly #rules: readonly RuleState[]
  readonly #frames: RuleState
  /** Endpoints that were asked. */
  readonly #endpoints = new Set<string>()
  #requests = 0

  constructor(served: ServedNetwork, situations: readonly ClientSituation[]) {
    this.#history = new ClientHistory(served)
    this.#situations = new Situations(situations)
    const stateOf = (group: string, rule: ClientRule) => ({ group, rule, concerned: 0, broken: 0, first: null })
    this.#frames = stateOf('requests', FRAMES)
    this.#rules = [this.#frames, ...clientRules.map(({ group, rule }) => stateOf(group, rule))]
  }

  /** Requests so far. */
  get requests(): number {
    return this.#requests
  }

  /** Judges a request. @returns the situation that it meets, or null */
  judgeRequest(request: ClientRequest): SituationState | null {
    this.#requests++
    this.#frames.concerned++
    for (const state of this.#rules) {
      if (state === this.#frames) continue
      const fault = state.rule.judge(request, this.#history)
      if (fault === undefined) continue
      state.concerned++
      if (fault !== null) recordFault(state, request, fault)
    }
    if (request.operation !== null) this.#endpoints.add(request.operation.id)
    const met = this.#situations.judgeRequest(request, this.#history.solvedAtMs)
    this.#history.recordRequest(request)
    return met
  }

  /** Judges the request by an answer that came from the node. */
  judgeAnswer(request: ClientRequest, answer: ClientAnswer): void {
    for (const state of this.#rules) {
      const fault = state.rule.judgeAnswer?.(request, answer) ?? null
      if (fault !== null) recordFault(state, request, fault)
    }
    this.#history.recordAnswer(request, answer)
  }

  /**
   * Records the end of an answer.
   * @param state the situation that the request met, or null
   * @param isSent whether the client was there to get the answer
   */
  recordEnd(request: ClientRequest, state: SituationState | null, { nowMs, isSent }: AnswerEnd): void {
    this.#history.recordEnd(request, nowMs, isSent)
    if (state === null) this.#situations.recordUsualAnswer(request, nowMs)
    else state.answeredMs = nowMs
  }

  /** Records bytes that are not an HTTP request. */
  recordMalformed(reason: string): void {
    this.#frames.concerned++
    this.#frames.broken++
    const [step, got] = [this.#requests + 1, printable(reason)]
    this.#frames.first ??= { step, call: 'a connection', at: 'request', expected: 'a request', got }
  }

  /** @returns the verdict. Decides situations that still wait for the client. */
  verdict(nowMs: number): ClientResult[] {
    this.#situations.judgeEnd(nowMs)
    for (const state of this.#rules) {
      for (const { request, fault } of state.rule.atEnd?.(this.#history) ?? []) recordFault(state, request, fault)
    }
    return [
      ...this.#rules.map(ruleResult),
      ...this.#situations.states.map((state) => situationResult(state, this.#endpoints)),
    ]
  }
}

function recordFault(state: RuleState, request: ClientRequest, fault: string): void {
  state.broken++
  const { name } = state.rule
  state.first ??= { step: request.number, call: lineOf(request), at: 'request', expected: name, got: fault }
}

function ruleResult({ group, rule: { name }, concerned, broken, first }: RuleState): ClientResult {
  const base = { group, name, durationMs: 0, reason: null, failure: null, gaveUp: null } as const
  if (concerned === 0) return { ...base, outcome: 'skipped', reason: NOT_ASKED }
  if (first === null) return { ...base, outcome: 'passed' }
  const more = broken > 1 ? `, and ${broken - 1} more of ${concerned} requests` : ''
  return { ...base, outcome: 'failed', failure: { ...first, got: first.got + more } }
}

function situationResult(
  { situation: { group, name, on, mayGiveUp }, met, outcome }: SituationState,
  endpoints: ReadonlySet<string>,
): ClientResult {
  const base = { group, name, durationMs: 0, reason: null, failure: null, gaveUp: null } as const
  if (met === null) {
    return { ...base, outcome: 'skipped', reason: on.some((id) => endpoints.has(id)) ? TOO_FEW : NOT_ASKED }
  }
  if (typeof outcome === 'string') return { ...base, outcome: 'passed' }
  if ('gaveUp' in outcome) {
    if (mayGiveUp === true) return { ...base, outcome: 'skipped', reason: LOSES_NOTHING }
    return { ...base, outcome: 'skipped', reason: GAVE_UP, gaveUp: outcome.gaveUp }
  }
  return { ...base, outcome: 'failed', failure: 'suspected' in outcome ? outcome.suspected : outcome }
}
