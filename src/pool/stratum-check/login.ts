/**
 * Simulates the log-in of a maker's rig: takes lines of the server and returns the rig's lines. It searches nothing.
 */
import { decodeHex } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { type MessageId, type Request, type Response, readMessage } from '#mining/stratum/messages.ts'
import { readTarget } from '#mining/stratum/targets.ts'
import { createFinding, type Finding } from './findings.ts'
import { type Manufacturer, type RigLogin, type RigRequest, usersOf } from './makers.ts'
import { readSubscription } from './subscription.ts'

export interface ReceivedJob {
  readonly atMs: number
  readonly header: Uint8Array
}

interface ReceivedTarget {
  readonly atMs: number
  readonly target: bigint
}

/** Next step of the log-in. `probing`: it mines, and has sent the requests that some settings cause. */
export type SessionStage = 'subscribe' | 'authorize' | 'job' | 'probing' | 'mining' | 'failed'

/** Length of work on a network with three adjacent chains, the only one that rigs know. */
export const WORK_BYTES = 286
/** Maximum length of a quoted line. */
const MAX_SHOWN = 80
/** Maximum length of a job id: longer ones are not known to work. */
const MAX_JOB_ID = 63

export class Login {
  readonly maker: Manufacturer
  stage: SessionStage
  nonce1: string | null = null
  nonce2Bytes: number | null = null
  /** Time of the log-in, or null before it. */
  loggedInAtMs: number | null = null
  readonly jobs: ReceivedJob[] = []
  readonly targets: ReceivedTarget[] = []
  /** Times of all lines. */
  readonly heardAtMs: number[] = []
  readonly #account: RigLogin
  /** The first finding of each kind: a server repeats itself. */
  readonly #findings = new Map<string, Finding>()
  #try = 0
  /** Requests without an answer: of further users, and after the log-in. */
  readonly #waitingFor = new Set<MessageId>()
  #hasDifficulty = false

  constructor(maker: Manufacturer, account: RigLogin) {
    this.maker = maker
    this.#account = account
    this.stage = maker.authorizesFirst ? 'authorize' : 'subscribe'
  }

  get findings(): readonly Finding[] {
    return [...this.#findings.values()]
  }

  get agent(): string {
    return this.maker.agents[this.#try]
  }

  /** Methods without an answer. */
  get unanswered(): readonly string[] {
    return this.maker.after.filter(({ id }) => this.#waitingFor.has(id)).map(({ method }) => method)
  }

  /** Whether further users of the connection have no answer yet. */
  get waitsForUsers(): boolean {
    return [...this.#waitingFor].some(isUser)
  }

  /** Whether the server sent a difficulty, in whatever unit. */
  get hasDifficulty(): boolean {
    return this.#hasDifficulty
  }

  /** @returns the lines that the rig sends once connected */
  open(): string[] {
    const first = this.maker.authorizesFirst ? this.#authorize() : this.#subscribe()
    return [...this.maker.before, first].map(lineOf)
  }

  /**
   * Processes a line of the server.
   * @param line without its line break
   * @returns the lines that the rig answers
   */
  hear(line: string, atMs: number): string[] {
    this.heardAtMs.push(atMs)
    if (this.stage === 'failed') return []
    let message: Request | Response
    try {
      message = readMessage(line)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      if (this.stage === 'subscribe')
        return this.#retrySubscription(createFinding('firstLine', `no message: ${excerptOf(line)}`))
      this.addFinding(createFinding('garbage'))
      return []
    }
    if (this.stage === 'subscribe') return this.#handleSubscription(message)
    if (message.kind === 'request') return this.#handleRequest(message, atMs)
    return this.stage === 'authorize' ? this.#handleAuthorization(message) : this.#handleAnswer(message)
  }

  addFinding(finding: Finding): void {
    this.#findings.set(finding.name, this.#findings.get(finding.name) ?? finding)
  }

  #subscribe(): RigRequest {
    const { ids, subscribeParams } = this.maker
    return { id: ids.subscribe, method: 'mining.subscribe', params: subscribeParams(this.agent) }
  }

  #authorize(): RigRequest {
    const { user, password } = this.#account
    return { id: this.maker.ids.authorize, method: 'mining.authorize', params: [user, password] }
  }

  /** Handles the first line after mining.subscribe, whatever it is. */
  #handleSubscription(message: Request | Response): string[] {
    const { findings, nonce1, nonce2Bytes } = readSubscription(message, this.maker)
    const failure = findings.find(({ level }) => level === 'fails')
    if (failure !== undefined) return this.#retrySubscription(failure)
    for (const finding of findings) this.addFinding(finding)
    this.nonce1 = nonce1
    this.nonce2Bytes = nonce2Bytes
    if (this.#try > 0) this.addFinding(createFinding('secondTry', this.agent))
    if (!this.maker.authorizesFirst) {
      this.stage = 'authorize'
      return [lineOf(this.#authorize())]
    }
    return this.#enter()
  }

  /**
   * Handles a bad answer to mining.subscribe. Some rigs try again under another name on the same connection; others
   * give up.
   */
  #retrySubscription(failure: Finding): string[] {
    const isLast = this.#try >= this.maker.agents.length - 1
    this.#findings.set(failure.name, isLast ? failure : { ...failure, level: 'loss' })
    if (isLast) {
      this.stage = 'failed'
      return []
    }
    this.#try++
    return [lineOf(this.#subscribe())]
  }

  /** Handles the answer to mining.authorize. Answers with other ids belong to earlier requests. */
  #handleAuthorization(message: Response): string[] {
    if (message.id !== this.maker.ids.authorize) return []
    const why = refusalOf(message)
    if (why !== null) {
      this.addFinding(createFinding('authorizeRefused', why))
      this.stage = 'failed'
      return []
    }
    if (this.maker.authorizesFirst) {
      this.stage = 'subscribe'
      return [lineOf(this.#subscribe())]
    }
    return this.#enter()
  }

  /** Logs in, and authorizes further users. */
  #enter(): string[] {
    this.loggedInAtMs = this.heardAtMs.at(-1) ?? null
    this.stage = 'job'
    const { password } = this.#account
    const others = usersOf(this.maker, this.#account).slice(1)
    const requests = others.map((user, index) => {
      return { id: `user ${index + 2}`, method: 'mining.authorize', params: [user, password] }
    })
    for (const { id } of requests) this.#waitingFor.add(id)
    return [...requests.map(lineOf), ...this.#advance()]
  }

  #handleAnswer(message: Response): string[] {
    if (!this.#waitingFor.delete(message.id)) return []
    const why = refusalOf(message)
    if (why !== null && isUser(message.id)) {
      this.addFinding(createFinding('userRefused', why))
      this.stage = 'failed'
      return []
    }
    return this.#advance()
  }

  /** Handles a request of the server: a job, a target, or one that the rig ignores. */
  #handleRequest(request: Request, atMs: number): string[] {
    const { method, params, unlisted } = request
    if (method === 'mining.set_target') this.#target(params[0], atMs)
    else if (method === 'mining.set_difficulty') this.#hasDifficulty = true
    else if (method === 'mining.notify') this.#job(unlisted === undefined ? params : [], atMs)
    else if (method === 'client.reconnect' && this.maker.isStrict) this.addFinding(createFinding('reconnect'))
    return this.#advance()
  }

  #target(text: unknown, atMs: number): void {
    let target = 0n
    try {
      target = typeof text === 'string' ? readTarget(text) : 0n
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
    }
    const digits = typeof text === 'string' ? text.length : 0
    if (target === 0n && digits <= 64) this.addFinding(createFinding('targetText'))
    else if (digits !== 64) this.addFinding(createFinding('targetDigits', this.maker, digits))
    if (target > 0n) this.targets.push({ atMs, target })
  }

  #job([id, hex]: readonly unknown[], atMs: number): void {
    const problem = jobIdProblem(id, this.maker.isStrict)
    if (problem !== null) this.addFinding(createFinding('jobId', this.maker, problem))
    let header: Uint8Array | null = null
    try {
      header = typeof hex === 'string' ? decodeHex(hex) : null
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
    }
    if (header === null || header.length === 0) {
      this.addFinding(createFinding('notifyForm'))
      return
    }
    if (header.length !== WORK_BYTES) this.addFinding(createFinding('headerLength', this.maker, header.length))
    this.jobs.push({ atMs, header })
  }

  /** Continues once nothing is missing: after the first job and target, the rig sends its last requests and mines. */
  #advance(): string[] {
    const isReady = this.jobs.length > 0 && (this.targets.length > 0 || this.#hasDifficulty)
    if (this.stage === 'job' && isReady && this.#waitingFor.size === 0) {
      this.stage = 'probing'
      for (const { id } of this.maker.after) this.#waitingFor.add(id)
      const lines = this.maker.after.map(lineOf)
      if (lines.length > 0) return lines
    }
    if (this.stage === 'probing' && this.#waitingFor.size === 0) this.stage = 'mining'
    return []
  }
}

/** Whether an id is that of a further user's request. */
const isUser = (id: MessageId) => String(id).startsWith('user ')

const lineOf = ({ id, method, params }: RigRequest): string => JSON.stringify({ id, method, params })

const excerptOf = (line: string) => printable(line, MAX_SHOWN)

/** @returns why an answer is a refusal, or null if it is not */
function refusalOf({ result, error }: Response): string | null {
  if (error !== null) return `${error.message}${error.code === 0 ? '' : ` (${error.code})`}`
  return result === null || result === false ? `the result is ${result}` : null
}

function jobIdProblem(id: unknown, isStrict: boolean): string | null {
  if (typeof id !== 'string') return typeof id === 'number' || typeof id === 'bigint' ? 'is a number' : 'is not a text'
  if (id === '') return 'is empty'
  if (id.length > MAX_JOB_ID) return `has ${id.length} characters`
  return isStrict && !/^[\x20-\x7e]*$/.test(id) ? 'is not ASCII' : null
}
