/** The protocol of one client (PROTOCOL.md F), without its socket: lines in, lines out. */
import { FormatError } from '#ground/base/errors.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import {
  type MessageId,
  numberIn,
  type Request,
  requestLine,
  type ShareVerdict,
  textIn,
} from '../../stratum/messages.ts'
import { type ByteOrder, nonce1Text } from '../../stratum/nonces.ts'
import {
  type CloseReason,
  MAX_USER,
  type Refusal,
  type RequestRefusal,
  refusals,
  shareFault,
} from '../../stratum/refusals.ts'
import { readTarget, targetOfShares, targetText } from '../../stratum/targets.ts'
import { orderOf, requestedOrder } from './byte-order.ts'
import { difficultyAfterUser, difficultyInPassword } from './hints.ts'
import type { Jobs, RigJob, ShareHash } from './jobs.ts'
import type { RigLimits } from './limits.ts'
import { type Nonce1Bits, nonce2Bytes } from './nonce-parts.ts'
import { configureReply, constantReply, type ReplyTo, replyLine, replyWith } from './replies.ts'
import { MAX_TEXT, RigInput } from './rig-input.ts'
import { MIN_ROLL_MS, rollMs } from './rolls.ts'
import { SeenShares } from './seen-shares.ts'
import { introduce, judgeShare, type Rig, type Share, type ShareContext, shareOf } from './share.ts'
import { ShareDifficulty } from './share-difficulty.ts'
import { workerKey } from './workers.ts'

/**
 * Maximum number of users on a connection, such as that of a farm's proxy: a client must not fill the memory. Shares of further users count for the first.
 */
const MAX_USERS_OF_SESSION = 1024
/** A fresh job is urgent if shares become harder by this factor. */
const URGENT = 4

/** The server from the view of a session. */
export interface SessionPorts {
  readonly jobs: Jobs
  readonly shareHash: ShareHash
  readonly limits: RigLimits
  /** 8 for a proxy of newcut. */
  readonly nonce1Bits: Nonce1Bits
  readonly nowMs: () => number
  /** `sequence`: of the work in the lines, or null. */
  readonly write: (lines: string, sequence: number | null) => void
  /** Closes the connection after the answer to the current line. */
  readonly close: (reason: CloseReason | null) => void
  /** Claims another nonce1 value until the end of the session. Returns false if another session has it. */
  readonly claim: (nonce1: number) => boolean
  /** Whether earlier bytes still wait for the network. */
  readonly isBehind: () => boolean
  /** Whether the worker of this key is banned at the address of the client. */
  readonly isBanned: (worker: string) => boolean
  /** Registers a user of the session. Returns the rig that its shares count for. */
  readonly onUser: (user: string) => Rig
  /** IP address of the client. */
  readonly address: string
  /** Difficulty of a rig's first shares in hashes. `agent`: name that its program reports. */
  readonly firstDifficulty: (rig: Rig, agent: string) => number
  /** Called when it has subscribed and authorized, and gets jobs from now. */
  readonly onReady: (session: Session) => void
  /** Receives a judged share. It calls `reply` once, now or later, with the verdict for the rig. */
  readonly onShare: (session: Session, share: Share, reply: (verdict: ShareVerdict) => void) => void
  /** Called for an unparsable line. */
  readonly onGarbage: (session: Session) => void
  /** Called for a refused request, except for the verdict of a share. */
  readonly onRefused: (reason: RequestRefusal) => void
  /**
   * The session needs a fresh job, because its difficulty changes or its nonces are used up. Urgent: its shares are far
   * too easy and keep arriving.
   */
  readonly onNeed: (session: Session, isUrgent: boolean) => void
}

/** Method -> refusal of a parameter of another type; all others take difficulties. */
const UNREADABLE: Readonly<Record<string, Refusal>> = {
  'mining.suggest_target': refusals.target,
  eth_submitHashrate: refusals.rate,
}

/** @returns null if the reply follows later */
type Handler = (session: Session, params: readonly unknown[], id: MessageId) => ReplyTo | null

/**
 * A client and its rigs. The life of a session:
 *
 * 1. It is created with a nonce1 when its socket is accepted, and waits for `mining.subscribe` and `mining.authorize`,
 *    in either order. Requests are answered one by one.
 * 2. With both it is ready: it gets a share difficulty, and `onReady` sends the newest job.
 * 3. It submits shares. Each is judged at once, and answered when `onShare` replies.
 * 4. It needs a fresh job when its difficulty changes, its nonces are used up, or it has got no line for too long
 *    (`onNeed`, `isDue`).
 * 5. Its socket ends. The server then releases its nonce1.
 */
export class Session {
  static readonly #handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ['mining.subscribe', (session, params) => session.#subscribe(params)],
    ['mining.authorize', (session, params) => session.#authorize(params)],
    ['mining.submit', (session, params, id) => session.#submit(params, id)],
    ['mining.extranonce.subscribe', () => replyWith(true)],
    ['mining.configure', (_session, params) => configureReply(params)],
    ['mining.suggest_difficulty', (session, [difficulty]) => session.#suggest(difficulty)],
    ['mining.suggest_target', (session, [target]) => session.#suggestTarget(target)],
    ['eth_submitHashrate', (session, [rate]) => session.#announce(rate)],
  ])
  #nonce1: number
  /** Byte order of its nonces, or null if unknown. */
  #order: ByteOrder | null = null
  readonly #ports: SessionPorts
  #agent = ''
  #suggested: number | null = null
  #isSubscribed = false
  /** Authorized rigs by user text. */
  readonly #rigs = new Map<string, Rig>()
  /** The first rig, which is the client itself, or null before authorization. */
  #first: Rig | null = null
  /** Null until it has both subscribed and authorized. */
  #difficulty: ShareDifficulty | null = null
  readonly #seen: SeenShares
  readonly #input: RigInput
  /** When it got its newest job, or a target in place of one; null if neither. */
  #sentAtMs: number | null = null
  /** The last difficulty reported to its workers, or null. */
  #lasting: number | null = null
  /** Time that it may search a job. */
  #rollMs = MIN_ROLL_MS
  readonly #sinceMs: number

  constructor(nonce1: number, ports: SessionPorts) {
    this.#nonce1 = nonce1
    this.#ports = ports
    this.#sinceMs = ports.nowMs()
    this.#seen = new SeenShares(ports.limits.sharesPerJob)
    this.#input = new RigInput({
      onRequest: (request) => this.#request(request),
      onGarbage: (isTooMuch) => this.#refuseLine(isTooMuch),
    })
  }

  /** The low two bytes of its nonces; constant once it is ready. */
  get nonce1(): number {
    return this.#nonce1
  }

  get isReady(): boolean {
    return this.#difficulty !== null
  }

  /** Whether the client reads too slowly. */
  get isBehind(): boolean {
    return this.#ports.isBehind()
  }

  /** Its rigs in the order of authorization. */
  get rigs(): Iterable<Rig> {
    return this.#rigs.values()
  }

  /** The current line, and the first one. */
  get line(): string {
    return this.#input.line
  }

  get firstLine(): string {
    return this.#input.firstLine
  }

  /** Handles a line of the client, without its line break. */
  receive(line: string): void {
    this.#input.receive(line)
  }

  #refuseLine(isTooMuch: boolean): void {
    this.#ports.onGarbage(this)
    this.#ports.onRefused('line')
    this.#ports.write(replyLine(null, refusals.line), null)
    if (isTooMuch) this.#ports.close('garbage')
  }

  /** Sends a job, preceded by its target if that changes. */
  send(job: RigJob): void {
    this.#sentAtMs = this.#ports.nowMs()
    const target = this.#difficulty?.nextTarget(job, this.#sentAtMs) ?? null
    const before = target === null ? '' : requestLine(null, 'mining.set_target', [targetText(target)])
    this.#ports.write(before + job.line, job.sequence)
  }

  /** Checks the difficulty and the search time of a job, and asks for a fresh job if necessary. */
  check(): void {
    if (this.#difficulty === null) return
    const { sentDifficulty, wanted, lasting } = this.#difficulty
    for (const { worker, presence } of this.#rigs.values()) {
      // Do not overwrite the worker's difficulty: another connection may know more than a spare one.
      if (lasting !== this.#lasting) worker.difficulty = lasting
      presence.setDifficulty(sentDifficulty ?? wanted)
    }
    this.#lasting = lasting
    if (this.#sentAtMs !== null && this.#ports.jobs.current !== null) this.#adjust(this.#difficulty)
    this.#measure(this.#difficulty)
  }

  #adjust(difficulty: ShareDifficulty): void {
    const { nowMs, jobs, onNeed } = this.#ports
    const before = difficulty.wanted
    if (!difficulty.adjust(nowMs(), jobs.current?.difficulty ?? Number.MAX_VALUE)) return
    this.#measure(difficulty)
    onNeed(this, difficulty.wanted >= URGENT * before)
  }

  /** Measures the rate. With several workers, the connection's rate belongs to none of them. */
  #measure({ rate, wanted, isFlooding }: ShareDifficulty): void {
    const worker = this.#rigs.size === 1 ? (this.#first?.worker ?? null) : null
    if (worker !== null) worker.rate = rate ?? worker.rate
    if (worker !== null && this.#first !== null) this.#first.presence.setRate(rate)
    const known = { agent: this.#agent, rate: rate ?? worker?.rate ?? null, difficulty: wanted, isFlooding }
    // A proxy hides its rigs: it gets as many headers as the fastest rig.
    const isProxy = this.#ports.nonce1Bits === 8
    this.#rollMs = isProxy ? MIN_ROLL_MS : rollMs(known, this.#ports.limits.noncesPerJob)
  }

  /** Whether it needs a fresh job: it may have tried too many nonces of its job, or has got no line for too long. */
  get isDue(): boolean {
    if (this.#difficulty === null || this.isBehind) return false
    return this.#ports.nowMs() - (this.#sentAtMs ?? this.#sinceMs) >= this.#rollMs
  }

  /** Shows a message to the operator of the rig. */
  show(message: string): void {
    this.#ports.write(requestLine(null, 'client.show_message', [message]), null)
  }

  /** Sends a line to a rig that waits for the first work, because it leaves a silent server. */
  sendTarget(): void {
    if (this.#difficulty === null) return
    this.#sentAtMs = this.#ports.nowMs()
    const target = targetText(targetOfShares(this.#difficulty.wanted))
    this.#ports.write(requestLine(null, 'mining.set_target', [target]), null)
  }

  #request(request: Request): void {
    const { id, method } = request
    const handler = Session.#handlers.get(method)
    if (handler !== undefined) this.#answer(id, this.#handle(handler, request))
    else this.#answer(id, constantReply(method))
    if (method === 'mining.subscribe' || method === 'mining.authorize') this.#begin()
  }

  #handle(handler: Handler, request: Request): ReplyTo | null {
    if (request.unlisted !== undefined) return refusals.parameters
    try {
      return handler(this, request.params, request.id)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      return UNREADABLE[request.method] ?? refusals.difficulty
    }
  }

  /** Answers a request. A notification gets no answer, because rigs would take it for that of their last request. */
  #answer(id: MessageId, reply: ReplyTo | null): void {
    if (reply === null) return
    if ('reason' in reply) this.#ports.onRefused(reply.reason)
    if (id !== null) this.#ports.write(replyLine(id, reply), null)
  }

  /** Begins once the client has subscribed and authorized, in either order: then its program and user are known. */
  #begin(): void {
    const rig = this.#first
    if (this.isReady || !this.#isSubscribed || rig === null) return
    const { nowMs, firstDifficulty, onReady } = this.#ports
    this.#difficulty = new ShareDifficulty(firstDifficulty(rig, this.#agent), nowMs(), this.#agent)
    if (this.#suggested !== null) this.#difficulty.suggest(this.#suggested, nowMs())
    this.#measure(this.#difficulty)
    onReady(this)
  }

  #subscribe([agent]: readonly unknown[]): ReplyTo {
    if (typeof agent === 'string') this.#agent = agent.slice(0, MAX_TEXT)
    for (const rig of this.#rigs.values()) introduce(rig, this.#ports.address, this.#agent)
    // The password may have set the order before.
    this.#order ??= orderOf(this.#agent)
    this.#isSubscribed = true
    const bits = this.#ports.nonce1Bits
    return replyWith([null, nonce1Text({ bits, value: this.#nonce1 }, this.#order), nonce2Bytes(bits)])
  }

  /**
   * Sets the byte order of its nonces. If it already has its nonce1, it reads that with swapped bytes.
   * @returns false if the swapped nonce1 belongs to another session
   */
  #reorder(order: ByteOrder): boolean {
    const isOther = this.#isSubscribed && order !== this.#order
    this.#order = order
    if (!isOther || this.#ports.nonce1Bits === 8) return true
    const nonce1 = (this.#nonce1 >> 8) | ((this.#nonce1 & 0xff) << 8)
    if (nonce1 !== this.#nonce1 && !this.#ports.claim(nonce1)) return false
    this.#nonce1 = nonce1
    return true
  }

  #authorize([user, password]: readonly unknown[]): ReplyTo {
    if (typeof user !== 'string' || user.length > MAX_USER) return refusals.user
    const { user: name, difficulty } = difficultyAfterUser(user)
    if (this.#ports.isBanned(workerKey(name))) {
      if (this.#rigs.size === 0) this.#ports.close('worker_banned')
      return refusals.banned
    }
    if (this.#rigs.size > 0) {
      if (!this.#rigs.has(user) && this.#rigs.size < MAX_USERS_OF_SESSION)
        this.#rigs.set(user, introduce(this.#ports.onUser(name), this.#ports.address, this.#agent))
      return replyWith(true)
    }
    const order = requestedOrder(password)
    if (order !== null && !this.#reorder(order)) {
      // The rig reconnects and gets another nonce1.
      this.#ports.close('nonce1')
      return replyWith(true)
    }
    this.#first = introduce(this.#ports.onUser(name), this.#ports.address, this.#agent)
    this.#rigs.set(user, this.#first)
    const suggested = difficultyInPassword(password) ?? difficulty
    return suggested === null ? replyWith(true) : this.#suggest(suggested)
  }

  #suggestTarget(target: unknown): ReplyTo {
    const difficulty = difficultyOf(readTarget(textIn(target)))
    return difficulty === null ? refusals.target : this.#suggest(Number(difficulty))
  }

  #suggest(suggestion: unknown): ReplyTo {
    const difficulty = numberIn(suggestion)
    if (!(difficulty > 0)) return refusals.difficulty
    this.#suggested = difficulty
    if (this.#difficulty !== null) {
      this.#difficulty.suggest(difficulty, this.#ports.nowMs())
      this.#ports.onNeed(this, false)
    }
    return replyWith(true)
  }

  /** Handles a share. Ignores parameters after the first three: some rigs add the chain. */
  #submit(params: readonly unknown[], id: MessageId): null {
    const [user] = params
    const rig = (typeof user === 'string' ? this.#rigs.get(user) : undefined) ?? this.#first
    const isBanned = this.#rigs.size > 1 && rig !== null && this.#ports.isBanned(rig.worker.key)
    const share = isBanned ? shareOf(rig, 'unauthorized') : judgeShare(params, this.#contextOf(rig))
    this.#ports.onShare(this, share, (verdict) =>
      this.#answer(id, this.#replyTo(params, isBanned ? 'banned' : verdict)),
    )
    if (this.#difficulty?.isPressing) this.#adjust(this.#difficulty)
    return null
  }

  #contextOf(rig: Rig | null): ShareContext {
    const { jobs, shareHash, nowMs, nonce1Bits, onNeed } = this.#ports
    return {
      rig,
      jobs,
      shareHash,
      nonce1Bits,
      isSubscribed: this.#isSubscribed,
      difficulty: this.#difficulty,
      nonce1: this.#nonce1,
      order: this.#order ?? 'usual',
      seen: this.#seen,
      nowMs: nowMs(),
      onFull: () => onNeed(this, true),
    }
  }

  #replyTo(params: readonly unknown[], verdict: ShareVerdict | 'banned'): ReplyTo {
    if (verdict === 'accepted') return replyWith(true)
    if (verdict === 'banned') return refusals.banned
    return verdict === 'malformed' ? shareFault(params, 2 * nonce2Bytes(this.#ports.nonce1Bits)) : { failure: verdict }
  }

  #announce(rate: unknown): ReplyTo {
    const announced = announcedRate(textIn(rate))
    if (announced === null) return refusals.rate
    if (this.#first !== null) this.#first.presence.setAnnounced(announced)
    return replyWith(true)
  }
}

/**
 * Parses the hashrate that a program reports, a hexadecimal number.
 * @returns hashes per second, or null if the text is not a hexadecimal number
 */
function announcedRate(text: string): number | null {
  return /^(0x)?[0-9a-f]{1,64}$/i.test(text) ? Number(`0x${text.replace(/^0x/i, '')}`) : null
}
