/**
 * A session with a pool: subscription, authorization (in any order), jobs, target and pending shares. It ends with the
 * connection: its shares are useless in another session, which has another nonce1.
 */
import { decodeHex } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError, FormatError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { isPort } from '#ground/base/host.ts'
import { printable } from '#ground/base/printable.ts'
import type { FixedNonce } from '#ground/chain/nonce.ts'
import type { Receipt } from '#ground/chain/solution.ts'
import { type Work, workFromBytes } from '#ground/chain/work.ts'
import {
  failureLine,
  listParams,
  type MessageId,
  numberIn,
  type Request,
  type Response,
  readMessage,
  requestLine,
  resultLine,
  textIn,
} from '../../stratum/messages.ts'
import { nonce2Size, nonce2Text, readNonce1 } from '../../stratum/nonces.ts'
import { readTarget, targetOfShares } from '../../stratum/targets.ts'
import { sourceErrors } from '../errors.ts'
import { mayMoveTo, type PoolAddress } from './address.ts'
import { PoolConnection, type PoolTrust } from './connection.ts'
import { receiptOf } from './receipt.ts'

/** Job id with the type that the pool used; shares repeat it. */
type JobId = string | number | bigint

/** Work of a pool. */
export interface PoolJob {
  /** The pool's id, mostly a string. */
  readonly id: JobId
  readonly work: Work
  /** A hash <= this is a share; never harder than the target of the block. */
  readonly target: bigint
  readonly nonce1: FixedNonce
}

/**
 * A message of the pool about work, unchanged. `job` has the parameters of mining.notify, `nonces` has nonce1 and the
 * size of nonce2.
 */
export type PoolNews =
  | { readonly kind: 'job'; readonly params: readonly unknown[]; readonly work: Work }
  | { readonly kind: 'target'; readonly target: bigint }
  | { readonly kind: 'nonces'; readonly nonce1: string; readonly nonce2Bytes: number }

interface SessionHandlers {
  /** The newest job, or the same one with another target. */
  readonly onJob: (job: PoolJob) => void
  /** All messages about work in order, each before the job that it causes. */
  readonly onNews?: (news: PoolNews) => void
  /** A message of the pool for people. `isComplaint`: the miner declines a request of the pool. */
  readonly onMessage: (text: string, isComplaint: boolean) => void
  /** Called once; nothing follows. `move`: redirection by the pool. */
  readonly onEnd: (reason: NewcutError, move: PoolRedirection | null) => void
}

/** A redirection: the address to connect to, and the wait before. */
export interface PoolRedirection {
  readonly address: PoolAddress
  readonly waitMs: number
}

interface SessionOptions {
  readonly address: PoolAddress
  /** The configured address. The pool may redirect clients only within its domain. */
  readonly home: PoolAddress
  readonly trust: PoolTrust
  /** Agent name of the miner. */
  readonly agent: string
  readonly clock: Clock
  readonly handlers: SessionHandlers
}

/** Request ids as other miners use them, whichever request comes first. */
const AUTHORIZE = 1
const SUBSCRIBE = 2
/** Timeout of an answer. A share without one counts as lost. */
const ANSWER_MS = 15_000
/** Timeout of the first job. */
const START_MS = 30_000
/** Maximum wait before a redirection, so that a pool cannot stop its clients for longer. */
const MAX_MOVE_WAIT_MS = 60_000
/** Maximum length of a job id, because all recent ones are kept. */
const MAX_JOB_ID = 128
/** Maximum number of unanswered requests; beyond it the pool is too slow. */
const MAX_PENDING = 256

export class PoolSession {
  readonly #options: SessionOptions
  readonly #connection: PoolConnection
  readonly #pending = new Map<MessageId, (response: Response | null) => void>()
  readonly #over = new AbortController()
  #nextId = SUBSCRIBE + 1
  #nonce1: FixedNonce | null = null
  /** Applies from the next job. */
  #nextNonce1: FixedNonce | null = null
  #isAuthorized = false
  /** Null until the pool sends one; then the target of the block applies. */
  #target: bigint | null = null
  #newest: { readonly id: JobId; readonly work: Work } | null = null
  #passedOn: PoolJob | null = null
  #latencyMs: number | null = null

  constructor(options: SessionOptions) {
    this.#options = options
    const { address, trust, agent, clock } = options
    this.#connection = new PoolConnection(address, trust, clock, {
      onOpen: () => {
        this.#connection.send(requestLine(SUBSCRIBE, 'mining.subscribe', [agent, null]))
        this.#connection.send(requestLine(AUTHORIZE, 'mining.authorize', [address.user, address.password]))
      },
      onLine: (line) => this.#read(line),
      onClosed: (reason) => this.#end(reason, null),
    })
    void sleep(clock, START_MS, this.#over.signal).then(() => {
      if (this.#passedOn === null) this.#connection.refuse(`it gave no work within ${START_MS / 1000} s`)
    })
  }

  /** Latency of the last answer, or null before the first. */
  get latencyMs(): number | null {
    return this.#latencyMs
  }

  /** Submits a share. Never throws. */
  async submit(job: Pick<PoolJob, 'id' | 'nonce1'>, nonce: bigint): Promise<Receipt> {
    const { user } = this.#options.address
    const answer = await this.ask('mining.submit', [user, job.id, nonce2Text(nonce, job.nonce1)])
    return typeof answer === 'string' ? lossOf(answer) : receiptOf(answer)
  }

  /**
   * Sends a request. Never throws.
   * @returns the answer, or as text why there is none
   */
  async ask(method: string, params: readonly unknown[]): Promise<Response | string> {
    const { clock } = this.#options
    if (this.#over.signal.aborted) return 'the connection had ended'
    if (this.#pending.size >= MAX_PENDING) return `${MAX_PENDING} shares wait for their answers`
    const id = this.#nextId++
    const sentAtMs = clock.monotonicMs()
    const answer = new Promise<Response | null>((resolve) => {
      this.#pending.set(id, resolve)
    })
    this.#connection.ask(requestLine(id, method, params))
    const late = new AbortController()
    const response = await Promise.race([answer, sleep(clock, ANSWER_MS, late.signal).then(() => null)])
    late.abort()
    this.#pending.delete(id)
    if (response === null)
      return this.#over.signal.aborted ? 'the connection ended' : `no answer in ${ANSWER_MS / 1000} s`
    this.#latencyMs = clock.monotonicMs() - sentAtMs
    return response
  }

  /** Ends the session because of the pool's behaviour. */
  refuse(why: string): void {
    this.#connection.refuse(why)
  }

  /** Closes the session. Nothing is called afterwards. */
  close(): void {
    this.#connection.close()
    this.#settle()
  }

  #read(line: string): void {
    try {
      const message = readMessage(line)
      if (message.kind === 'response') this.#handleResponse(message)
      else this.#handleRequest(message)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      this.#connection.refuse(`it sent what cannot be read: ${describeError(error)}`, error)
    }
  }

  #handleResponse(response: Response): void {
    const { id, result, error } = response
    if (id === SUBSCRIBE) this.#handleSubscription(response)
    else if (id === AUTHORIZE) {
      // Some servers answer with an empty list.
      if (error !== null || result === false || result === null) {
        const why = error === null ? 'no reason given' : error.message
        this.#connection.refuse(`it refuses the user: ${why}`)
        return
      }
      this.#isAuthorized = true
      this.#passOnJob()
    } else if (id === null && error !== null) this.#connection.refuse(`it said: ${error.message}`)
    else this.#pending.get(id)?.(response)
  }

  #handleSubscription({ result, error }: Response): void {
    if (error !== null || !Array.isArray(result)) {
      this.#connection.refuse(`it refuses to give work: ${error?.message ?? 'no reason given'}`)
      return
    }
    const [, nonce1, nonce2Bytes] = result
    this.#nonce1 = this.#readNonces(textIn(nonce1), numberIn(nonce2Bytes))
    this.#passOnJob()
  }

  #handleRequest(request: Request): void {
    const { handlers, agent } = this.#options
    const { id, method, params, unlisted } = request
    switch (method) {
      case 'mining.notify':
        this.#handleNotify(listParams(request))
        return
      case 'mining.set_target':
        this.#setTarget(readTarget(textIn(listParams(request)[0])))
        return
      case 'mining.set_difficulty':
        this.#setTarget(targetOfShares(numberIn(listParams(request)[0])))
        return
      case 'mining.set_extranonce':
        this.#setExtranonce(listParams(request))
        return
      case 'client.show_message': {
        const text = unlisted ?? params[0]
        if (typeof text === 'string') handlers.onMessage(printable(text, 200), false)
        return
      }
      case 'client.reconnect':
        this.#handleReconnect(listParams(request))
        return
      case 'client.get_version':
        this.#connection.send(resultLine(id, agent))
        return
      case 'mining.ping':
        // A ping without an id cannot be answered.
        if (id !== null) this.#connection.send(resultLine(id, 'pong'))
        return
      default:
        // Only requests with an id need an answer.
        if (id !== null) this.#connection.send(failureLine(id, 'unknown'))
    }
  }

  /**
   * Handles mining.notify. Ignores the last parameter: some pools omit it, and it does not end work of other chains.
   */
  #handleNotify(params: readonly unknown[]): void {
    const [id, header] = params
    if (!isJobId(id)) throw new FormatError('job', 0, `expected a text or number of at most ${MAX_JOB_ID} characters`)
    const work = workFromBytes(decodeHex(textIn(header), 'work'))
    if (this.#nextNonce1 !== null) this.#nonce1 = this.#nextNonce1
    this.#nextNonce1 = null
    this.#newest = { id, work }
    this.#options.handlers.onNews?.({ kind: 'job', params, work })
    this.#passOnJob()
  }

  #setTarget(target: bigint): void {
    this.#target = target
    this.#options.handlers.onNews?.({ kind: 'target', target })
    this.#passOnJob()
  }

  /** Parses the nonces of the pool. */
  #readNonces(nonce1: string, nonce2Bytes: number): FixedNonce {
    const read = readNonce1(nonce1, nonce2Bytes)
    this.#options.handlers.onNews?.({ kind: 'nonces', nonce1, nonce2Bytes })
    return read
  }

  /** Handles mining.set_extranonce with `[nonce1, bytes of nonce2]`. Without the second, the size stays. */
  #setExtranonce([nonce1, nonce2Bytes]: readonly unknown[]): void {
    const before = this.#nextNonce1 ?? this.#nonce1
    this.#nextNonce1 = this.#readNonces(textIn(nonce1), numberIn(nonce2Bytes ?? (before && nonce2Size(before))))
  }

  /** Passes the job on once nonce1 is known and the user is authorized; pools may send work earlier. */
  #passOnJob(): void {
    if (this.#newest === null || this.#nonce1 === null || !this.#isAuthorized) return
    const { id, work } = this.#newest
    const blockTarget = work.fields.target
    const target = this.#target === null || this.#target < blockTarget ? blockTarget : this.#target
    const job = { id, work, target, nonce1: this.#nonce1 }
    if (this.#passedOn?.work === work && this.#passedOn.target === target) return
    this.#passedOn = job
    this.#options.handlers.onJob(job)
  }

  /**
   * Handles client.reconnect with `[host, port, seconds to wait]`. An omitted, empty or null value means the same
   * address, without a wait.
   */
  #handleReconnect([host, port, seconds]: readonly unknown[]): void {
    const { address, home } = this.#options
    const to = textIn(host) || address.host
    const at = Number(textIn(port) || address.port)
    const waitMs = Math.min(MAX_MOVE_WAIT_MS, Math.max(0, 1000 * numberIn(seconds) || 0))
    const where = printable(`${to}:${at}`, 100)
    // Compare with the configured address, so that several redirections cannot leave its domain.
    if (!mayMoveTo(home, to) || !isPort(at)) {
      const text = `it redirects miners to ${where}, outside its own domain: newcut does not follow`
      this.#options.handlers.onMessage(text, true)
      return
    }
    const url = `stratum+${address.tls ? 'ssl' : 'tcp'}://${where}`
    this.#connection.close()
    const reason = operatingError(sourceErrors.poolRedirects, { url: address.url, where })
    this.#end(reason, { address: { ...address, host: to, port: at, url }, waitMs })
  }

  #end(reason: NewcutError, move: PoolRedirection | null): void {
    this.#settle()
    this.#options.handlers.onEnd(reason, move)
  }

  #settle(): void {
    this.#over.abort()
    for (const resolve of this.#pending.values()) resolve(null)
    this.#pending.clear()
  }
}

function isJobId(id: unknown): id is JobId {
  return ['string', 'number', 'bigint'].includes(typeof id) && String(id).length <= MAX_JOB_ID
}

function lossOf(message: string): Receipt {
  return { step: 'lost', reason: 'unreachable', message }
}
