/**
 * One session with a pool: subscribed and authorized in any order, its jobs, its target, and the shares under way. All of
 * it ends with the connection: shares of one session are of no use in another, which has another nonce1.
 */
import { decodeHex } from '../../core/bytes.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError, FormatError, NewcutError } from '../../core/errors.ts'
import type { FixedNonce } from '../../core/nonce.ts'
import { printable } from '../../core/printable.ts'
import type { Receipt } from '../../core/solution.ts'
import { type Work, workFromBytes } from '../../core/work.ts'
import {
  failureLine,
  listOf,
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
import { mayMoveTo, type PoolAddress } from './address.ts'
import { PoolConnection, type PoolTrust } from './connection.ts'
import { receiptOf } from './receipt.ts'

/** Shares name their job as the pool did. */
type JobId = string | number | bigint

/** Work of a pool. */
export interface PoolJob {
  /** As the pool names it: mostly a text. */
  readonly id: JobId
  readonly work: Work
  /** A hash <= this is a share; never harder than the target of the block. */
  readonly target: bigint
  readonly nonce1: FixedNonce
}

/** What a pool tells of its work, as it came: `job` has the parameters of mining.notify, `nonces` nonce1 and size of nonce2. */
export type PoolNews =
  | { readonly kind: 'job'; readonly params: readonly unknown[]; readonly work: Work }
  | { readonly kind: 'target'; readonly target: bigint }
  | { readonly kind: 'nonces'; readonly nonce1: string; readonly nonce2Bytes: number }

export interface SessionHandlers {
  /** The newest job, or the same one with another target. */
  readonly onJob: (job: PoolJob) => void
  /** Everything that it tells, in its order and before the job that comes of it. */
  readonly onNews?: (told: PoolNews) => void
  /** What the pool wants people to read; `isComplaint`: something that it asked for is not done. */
  readonly onMessage: (text: string, isComplaint: boolean) => void
  /** Once; nothing follows. `move`: where the pool sends its clients. */
  readonly onEnd: (reason: NewcutError, move: Move | null) => void
}

/** Where a pool wants its clients to connect, and how long they are to wait before. */
export interface Move {
  readonly address: PoolAddress
  readonly waitMs: number
}

export interface SessionOptions {
  readonly address: PoolAddress
  /** The address that was configured: the pool may send its clients about its domain. */
  readonly home: PoolAddress
  readonly trust: PoolTrust
  /** What the miner calls itself. */
  readonly agent: string
  readonly clock: Clock
  readonly handlers: SessionHandlers
}

/** As miners number them, whichever they send first. */
const AUTHORIZE = 1
const SUBSCRIBE = 2
/** A share that has no answer by then counts as lost. */
const ANSWER_MS = 15_000
/** Until the first job. */
const START_MS = 30_000
/** A pool that sends its clients away for longer would have them search nothing. */
const MAX_MOVE_WAIT_MS = 60_000
const MAX_JOB_ID = 128
/** Shares without an answer: beyond that the pool is too slow to be of use. */
const MAX_PENDING = 256

export class PoolSession {
  readonly #options: SessionOptions
  readonly #connection: PoolConnection
  readonly #pending = new Map<MessageId, (response: Response | null) => void>()
  readonly #over = new AbortController()
  #nextId = SUBSCRIBE + 1
  #nonce1: FixedNonce | null = null
  /** Takes effect with the next job. */
  #nextNonce1: FixedNonce | null = null
  #isAuthorized = false
  /** null: the pool has not said; the target of the block then. */
  #target: bigint | null = null
  #newest: { readonly id: JobId; readonly work: Work } | null = null
  #told: PoolJob | null = null
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
      if (this.#told === null) this.#connection.refuse(`it gave no work within ${START_MS / 1000} s`)
    })
  }

  /** Time until the answer to the last share; null: there was none. */
  get latencyMs(): number | null {
    return this.#latencyMs
  }

  /** Hands in a share. Never throws. */
  async submit(job: Pick<PoolJob, 'id' | 'nonce1'>, nonce: bigint): Promise<Receipt> {
    const { user } = this.#options.address
    const answer = await this.ask('mining.submit', [user, job.id, nonce2Text(nonce, job.nonce1)])
    return typeof answer === 'string' ? lost(answer) : receiptOf(answer)
  }

  /** Asks the pool something. Never throws. Returns why there is no answer, as a text, where there is none. */
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

  /** Ends it because of what the pool did. */
  refuse(why: string): void {
    this.#connection.refuse(why)
  }

  /** Nothing is told afterwards. */
  close(): void {
    this.#connection.close()
    this.#settle()
  }

  #read(line: string): void {
    try {
      const message = readMessage(line)
      if (message.kind === 'response') this.#answered(message)
      else this.#called(message)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      this.#connection.refuse(`it sent what cannot be read: ${describeError(error)}`, error)
    }
  }

  #answered(response: Response): void {
    const { id, result, error } = response
    if (id === SUBSCRIBE) this.#subscribed(response)
    else if (id === AUTHORIZE) {
      // Some servers answer with an empty list.
      if (error !== null || result === false || result === null) {
        const why = error === null ? 'no reason given' : error.message
        this.#connection.refuse(`it refuses the user: ${why}`)
        return
      }
      this.#isAuthorized = true
      this.#tell()
    } else if (id === null && error !== null) this.#connection.refuse(`it said: ${error.message}`)
    else this.#pending.get(id)?.(response)
  }

  #subscribed({ result, error }: Response): void {
    if (error !== null || !Array.isArray(result)) {
      this.#connection.refuse(`it refuses to give work: ${error?.message ?? 'no reason given'}`)
      return
    }
    const [, nonce1, nonce2Bytes] = result
    this.#nonce1 = this.#read1(textIn(nonce1), numberIn(nonce2Bytes))
    this.#tell()
  }

  #called(request: Request): void {
    const { handlers, agent } = this.#options
    const { id, method, params, unlisted } = request
    switch (method) {
      case 'mining.notify':
        this.#notified(listOf(request))
        return
      case 'mining.set_target':
        this.#targeted(readTarget(textIn(listOf(request)[0])))
        return
      case 'mining.set_difficulty':
        this.#targeted(targetOfShares(numberIn(listOf(request)[0])))
        return
      case 'mining.set_extranonce':
        this.#renumbered(listOf(request))
        return
      case 'client.show_message': {
        const text = unlisted ?? params[0]
        if (typeof text === 'string') handlers.onMessage(printable(text, 200), false)
        return
      }
      case 'client.reconnect':
        this.#moved(listOf(request))
        return
      case 'client.get_version':
        this.#connection.send(resultLine(id, agent))
        return
      case 'mining.ping':
        // Without an id it wants a sign of life all the same, and there is none that it could match.
        if (id !== null) this.#connection.send(resultLine(id, 'pong'))
        return
      default:
        // Only questions want an answer.
        if (id !== null) this.#connection.send(failureLine(id, 'unknown'))
    }
  }

  /** Some pools leave out the last parameter. It does not end work of other chains, so it tells nothing. */
  #notified(params: readonly unknown[]): void {
    const [id, header] = params
    if (!isJobId(id)) throw new FormatError('job', 0, `expected a text or number of at most ${MAX_JOB_ID} characters`)
    const work = workFromBytes(decodeHex(textIn(header), 'work'))
    if (this.#nextNonce1 !== null) this.#nonce1 = this.#nextNonce1
    this.#nextNonce1 = null
    this.#newest = { id, work }
    this.#options.handlers.onNews?.({ kind: 'job', params, work })
    this.#tell()
  }

  #targeted(target: bigint): void {
    this.#target = target
    this.#options.handlers.onNews?.({ kind: 'target', target })
    this.#tell()
  }

  /** Reads what the pool says of nonces. */
  #read1(nonce1: string, nonce2Bytes: number): FixedNonce {
    const read = readNonce1(nonce1, nonce2Bytes)
    this.#options.handlers.onNews?.({ kind: 'nonces', nonce1, nonce2Bytes })
    return read
  }

  /** `[nonce1, bytes of nonce2]`; without the second they stay as many as they were. */
  #renumbered([nonce1, nonce2Bytes]: readonly unknown[]): void {
    const before = this.#nextNonce1 ?? this.#nonce1
    this.#nextNonce1 = this.#read1(textIn(nonce1), numberIn(nonce2Bytes ?? (before && nonce2Size(before))))
  }

  /** Pools may send work before they have answered: it is searched when nonce1 is known and the user is taken. */
  #tell(): void {
    if (this.#newest === null || this.#nonce1 === null || !this.#isAuthorized) return
    const { id, work } = this.#newest
    const blockTarget = work.fields.target
    const target = this.#target === null || this.#target < blockTarget ? blockTarget : this.#target
    const job = { id, work, target, nonce1: this.#nonce1 }
    if (this.#told?.work === work && this.#told.target === target) return
    this.#told = job
    this.#options.handlers.onJob(job)
  }

  /** `[host, port, seconds to wait]`; what is missing, empty or null: the same place, and at once. */
  #moved([host, port, seconds]: readonly unknown[]): void {
    const { address, home } = this.#options
    const to = textIn(host) || address.host
    const at = Number(textIn(port) || address.port)
    const waitMs = Math.min(MAX_MOVE_WAIT_MS, Math.max(0, 1000 * numberIn(seconds) || 0))
    const where = printable(`${to}:${at}`, 100)
    // From a place that it was sent to already no more is allowed than from its own.
    if (!mayMoveTo(home, to) || !Number.isInteger(at) || at < 1 || at > 65_535) {
      const text = `it redirects miners to ${where}, outside its own domain: newcut does not follow`
      this.#options.handlers.onMessage(text, true)
      return
    }
    const url = `stratum+${address.tls ? 'ssl' : 'tcp'}://${where}`
    this.#connection.close()
    const reason = new NewcutError('NODE_UNREACHABLE', `pool ${address.url}: it redirects miners to ${where}`)
    this.#end(reason, { address: { ...address, host: to, port: at, url }, waitMs })
  }

  #end(reason: NewcutError, move: Move | null): void {
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

function lost(message: string): Receipt {
  return { step: 'lost', reason: 'unreachable', message }
}
