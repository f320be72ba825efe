/** One run of one case: its variables, its open streams and its calls in the background. */
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { parseJson, stringifyJson } from '#ground/base/json.ts'
import type { CaseStep, ConformanceCase, Expectation } from './case-file.ts'
import { CaseSkipped, makeValue, WrongInput } from './makes.ts'
import { abbreviateValue, findMismatch, type Mismatch } from './matchers.ts'
import type { NodeProfile } from './probe.ts'
import { fillIn, partOf, UnknownVariable, type Variables } from './variables.ts'
import { type HttpTransport, jsonOf, type WireAnswer, type WireRequest, type WireStream } from './wire.ts'
import type { Release } from './words.ts'

/** Where a case failed, and how. */
export interface StepFailure extends Mismatch {
  /** From 1. */
  readonly step: number
  /** Such as `GET /info`. */
  readonly call: string
}

interface CaseRunOptions {
  readonly probed: NodeProfile
  readonly release: Release
  readonly wire: HttpTransport
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Position of the case in the run, from 0. */
  readonly number: number
  /** Clock of the node minus that of this machine, in seconds. */
  readonly skewS: number
}

/** Time between two attempts of a step with `until`. */
const RETRY_MS = 100

/** Parts of an answer or event that expectations and `save` name. */
type AnswerFacts = Readonly<Record<string, unknown>>

export class CaseRun {
  readonly #case: ConformanceCase
  readonly #options: CaseRunOptions
  readonly #variables: Variables
  readonly #streams = new Map<string, WireStream>()
  readonly #started = new Map<string, Promise<WireAnswer | Error>>()
  readonly #ending = new AbortController()
  #commands = 0

  constructor(conformanceCase: ConformanceCase, options: CaseRunOptions) {
    this.#case = conformanceCase
    this.#options = options
    this.#variables = new Map(options.probed.variables)
    options.signal.addEventListener('abort', this.#stop, { once: true })
  }

  readonly #stop = () => this.#ending.abort(this.#options.signal.reason)

  /**
   * Runs the steps in their order.
   * @returns the first failure, or null
   * @throws CaseSkipped, and the reason of the signal when it aborts
   */
  async run(): Promise<StepFailure | null> {
    for (const [i, step] of this.#case.steps.entries()) {
      const found = await this.#runUntilFit(step)
      this.#options.signal.throwIfAborted()
      if (found !== null) return { step: i + 1, call: this.#callTextOf(step), ...found }
    }
    return null
  }

  /** Ends streams and calls in the background. */
  close(): void {
    this.#options.signal.removeEventListener('abort', this.#stop)
    this.#ending.abort(new Error('the case is over'))
    for (const stream of this.#streams.values()) stream.close()
  }

  async #runUntilFit(step: CaseStep): Promise<Mismatch | null> {
    const { clock, timeoutMs, signal } = this.#options
    const untilMs = clock.monotonicMs() + timeoutMs
    for (;;) {
      const found = await this.#runOnce(step)
      if (found === null || step.until !== true || clock.monotonicMs() >= untilMs || signal.aborted) return found
      await sleep(clock, RETRY_MS, signal)
    }
  }

  async #runOnce(step: CaseStep): Promise<Mismatch | null> {
    try {
      return await this.#perform(step)
    } catch (error) {
      if (error instanceof UnknownVariable && error.message.startsWith('$neighbour')) {
        throw new CaseSkipped('the network has one chain')
      }
      const isOfCase = [NewcutError, UnknownVariable, WrongInput].some((kind) => error instanceof kind)
      if (!isOfCase || this.#options.signal.aborted) throw error
      return { at: 'answer', expected: 'an answer', got: (error as Error).message }
    }
  }

  async #perform(step: CaseStep): Promise<Mismatch | null> {
    if (step.mine !== undefined) return this.#mine(step.mine)
    if (step.make !== undefined) return this.#make(step, step.make)
    if (step.event !== undefined) return this.#awaitEvent(step, step.event)
    if (step.await !== undefined) return this.#awaitAnswer(step, step.await)
    const request = this.#requestOf(step)
    if (step.start !== undefined) {
      const answer = this.#options.wire.request(request, this.#ending.signal)
      this.#started.set(
        step.start,
        answer.catch((error: Error) => error),
      )
      return null
    }
    if (step.stream !== undefined) {
      const stream = await this.#options.wire.stream(request, this.#ending.signal)
      this.#streams.set(step.stream, stream)
      return this.#judge(step, factsOf(stream.head))
    }
    const facts = factsOf(await this.#options.wire.request(request, this.#ending.signal))
    if (step.skip !== undefined && this.#findMismatch(step.skip.when, facts) === null) {
      throw new CaseSkipped(step.skip.reason)
    }
    return this.#judge(step, facts)
  }

  #requestOf({ call = 'GET', path = '', query, headers, body, bodyText, bodyBytes }: CaseStep): WireRequest {
    const fill = (value: unknown) => fillIn(value, this.#variables)
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query ?? {})) parameters.append(name, textOf(fill(value)))
    const typed = body === undefined ? {} : { 'content-type': 'application/json' }
    const given = Object.entries((fill(headers ?? {}) ?? {}) as Record<string, unknown>)
    const all = Object.entries({ accept: '*/*', ...typed, ...Object.fromEntries(given) })
    // A header with the value null is left out.
    const sent = Object.fromEntries(
      all.filter(([, value]) => value !== null).map(([name, value]) => [name, String(value)]),
    )
    const whole = String(fill(path)) + (parameters.size > 0 ? `?${parameters}` : '')
    return { method: call, path: whole, headers: sent, body: bodyOf() }

    function bodyOf(): WireRequest['body'] {
      if (body !== undefined) return stringifyJson(fill(body))
      if (bodyText !== undefined) return String(fill(bodyText))
      return bodyBytes === undefined ? null : decodeBase64Url(String(fill(bodyBytes)), 'bodyBytes')
    }
  }

  async #mine(counts: Readonly<Record<string, unknown>>): Promise<null> {
    const body = stringifyJson(fillIn(counts, this.#variables))
    const headers = { 'content-type': 'application/json', accept: '*/*' }
    const request = { method: 'POST', path: '/make-blocks', headers, body }
    const answer = await this.#options.wire.request(request, this.#ending.signal)
    if (answer.status === 200) return null
    throw new CaseSkipped(`POST /make-blocks answers ${answer.status}: ${abbreviateValue(bodyTextOf(answer))}`)
  }

  #make(step: CaseStep, kind: NonNullable<CaseStep['make']>): Mismatch | null {
    const { probed, number, clock, skewS } = this.#options
    const nowMs = clock.wallMs()
    const nonce = `conformance ${nowMs} ${number} ${this.#commands++}`
    const input = fillIn(step.with ?? {}, this.#variables) as Readonly<Record<string, unknown>>
    const defaults = { network: probed.network, nowS: Math.floor(nowMs / 1000 + skewS), nonce }
    return this.#judge(step, { value: makeValue(kind, input, defaults) })
  }

  async #awaitAnswer(step: CaseStep, name: string): Promise<Mismatch | null> {
    const answer = await this.#started.get(name)
    if (answer === undefined) throw new WrongInput(`no step has started ${name}`)
    if (answer instanceof Error) throw answer
    return this.#judge(step, factsOf(answer))
  }

  /** Takes events until one is as expected. */
  async #awaitEvent(step: CaseStep, name: string): Promise<Mismatch | null> {
    const stream = this.#streams.get(name)
    if (stream === undefined) throw new WrongInput(`no step has opened the stream ${name}`)
    const { clock, timeoutMs } = this.#options
    const untilMs = clock.monotonicMs() + timeoutMs
    let last: Mismatch | null = null
    for (;;) {
      const event = await stream.next(Math.max(0, untilMs - clock.monotonicMs()))
      if (event === null) return last ?? { at: 'event', expected: abbreviateValue(step.expect?.event), got: 'none' }
      const found = this.#judge(step, { event: { name: event.name, data: parseEventData(event.data) } })
      if (found === null) return null
      last = { ...found, got: `${found.got}, and no later event fits` }
    }
  }

  #judge(step: CaseStep, facts: AnswerFacts): Mismatch | null {
    const found = this.#findMismatch(step.expect ?? {}, facts)
    if (found === null) this.#save(step, facts)
    return found
  }

  #findMismatch(expectation: Expectation, facts: AnswerFacts): Mismatch | null {
    const expected = fillIn(expectation, this.#variables) as Expectation
    for (const [part, wanted] of Object.entries(expected)) {
      const isChoice = part === 'status' && Array.isArray(wanted)
      const found = findMismatch(isChoice ? { $anyOf: wanted } : wanted, facts[part], part, this.#options.release)
      if (found !== null) return part === 'status' ? { ...found, got: statusWithText(found.got, facts.text) } : found
    }
    return null
  }

  #save({ save = {} }: CaseStep, facts: AnswerFacts): void {
    for (const [name, path] of Object.entries(save)) {
      const value = partOf(facts, path.split('.'))
      if (value === undefined) throw new UnknownVariable(`${path}, to be saved as $${name},`)
      this.#variables.set(name, value)
    }
  }

  #callTextOf({ call, path, event, await: awaited, make, mine }: CaseStep): string {
    if (mine !== undefined) return 'POST /make-blocks'
    if (make !== undefined) return `make ${make}`
    const other = event ?? awaited
    const first = this.#case.steps.find((step) => other !== undefined && (step.stream ?? step.start) === other)
    if (call === undefined && first !== undefined) return this.#callTextOf(first)
    return `${call} ${pathTextOf(path ?? '', this.#variables)}`
  }
}

function pathTextOf(path: string, variables: Variables): string {
  try {
    return String(fillIn(path, variables))
  } catch (error) {
    if (!(error instanceof UnknownVariable)) throw error
    return path
  }
}

const bodyTextOf = ({ body }: WireAnswer) => new TextDecoder().decode(body)
const textOf = (value: unknown) => (typeof value === 'string' ? value : stringifyJson(value))
const statusWithText = (status: string, text: unknown) => (text ? `${status}: ${abbreviateValue(text)}` : status)

function factsOf(answer: WireAnswer): AnswerFacts {
  const { status, headers, body } = answer
  return { status, headers, json: jsonOf(answer), text: bodyTextOf(answer), bytes: encodeBase64Url(body) }
}

function parseEventData(text: string): unknown {
  if (text === '') return ''
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return text
  }
}
