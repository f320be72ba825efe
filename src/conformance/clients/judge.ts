/** The verdict about a client: every rule and every situation is a case. */
import { printable } from '../../core/printable.ts'
import type { CaseResult } from '../run.ts'
import { type Asked, type ClientAnswer, lineOf } from './asked.ts'
import { commandRules, guarded } from './command-rules.ts'
import { type ClientRule, httpRules } from './http-rules.ts'
import { miningRules } from './mining-rules.ts'
import { Past, type Served } from './past.ts'
import type { ClientSituation } from './situation-file.ts'
import { type SituationState, Situations } from './situations.ts'

/** Rules by the group of cases that they form. */
const ruleGroups: Readonly<Record<string, readonly ClientRule[]>> = {
  requests: httpRules,
  commands: commandRules.map(guarded),
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

/** A rule's record: how many requests it concerned, the first that broke it, and how many did. */
interface RuleState {
  readonly group: string
  readonly rule: ClientRule
  concerned: number
  broken: number
  first: CaseResult['failure']
}

export class ClientJudge {
  readonly #past: Past
  readonly #situations: Situations
  readonly #rules: readonly RuleState[]
  readonly #frames: RuleState
  #requests = 0

  constructor(served: Served, situations: readonly ClientSituation[]) {
    this.#past = new Past(served)
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
  asked(asked: Asked): SituationState | null {
    this.#requests++
    this.#frames.concerned++
    for (const state of this.#rules) {
      if (state === this.#frames) continue
      const fault = state.rule.judge(asked, this.#past)
      if (fault === undefined) continue
      state.concerned++
      if (fault === null) continue
      state.broken++
      state.first ??= { step: asked.number, call: lineOf(asked), at: 'request', expected: state.rule.name, got: fault }
    }
    const met = this.#situations.next(asked, this.#past.solvedAtMs)
    this.#past.asked(asked)
    return met
  }

  answered(asked: Asked, answer: ClientAnswer): void {
    this.#past.answered(asked, answer)
  }

  /** Bytes that are no request. */
  malformed(reason: string): void {
    this.#frames.concerned++
    this.#frames.broken++
    const [step, got] = [this.#requests + 1, printable(reason)]
    this.#frames.first ??= { step, call: 'a connection', at: 'request', expected: 'a request', got }
  }

  /** The verdict. Situations that wait for the client are decided. */
  verdict(nowMs: number): CaseResult[] {
    this.#situations.end(nowMs)
    return [...this.#rules.map(ruleResult), ...this.#situations.states.map(situationResult)]
  }
}

function ruleResult({ group, rule: { name }, concerned, broken, first }: RuleState): CaseResult {
  const base = { group, name, durationMs: 0, reason: null, failure: null } as const
  if (concerned === 0) return { ...base, outcome: 'skipped', reason: 'the client made no such request' }
  if (first === null) return { ...base, outcome: 'passed' }
  const more = broken > 1 ? `, and ${broken - 1} more of ${concerned} requests` : ''
  return { ...base, outcome: 'failed', failure: { ...first, got: first.got + more } }
}

function situationResult({ situation: { group, name }, met, outcome }: SituationState): CaseResult {
  const base = { group, name, durationMs: 0, reason: null, failure: null } as const
  if (met === null) return { ...base, outcome: 'skipped', reason: 'the client did not meet this situation' }
  if (outcome === 'gave-up')
    return { ...base, outcome: 'skipped', reason: 'the client gave up, which loses nothing here' }
  if (outcome === 'passed' || outcome === 'open') return { ...base, outcome: 'passed' }
  return { ...base, outcome: 'failed', failure: outcome }
}
