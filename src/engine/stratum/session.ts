/** What one client says and is told (PROTOCOL.md F), without its socket: lines in, lines out. */
import { FormatError } from '../../core/errors.ts'
import { difficultyOf } from '../../core/target.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import { type MessageId, numberIn, type Request, readMessage, requestLine, textIn } from '../../stratum/messages.ts'
import { type ByteOrder, nonce1Text } from '../../stratum/nonces.ts'
import { type CloseReason, MAX_USER, type RequestRefusal, refusals, shareFault } from '../../stratum/refusals.ts'
import { readTarget, targetOfShares, targetText } from '../../stratum/targets.ts'
import { announcedRate } from './announced-rate.ts'
import { orderAsked, orderOf } from './byte-order.ts'
import { difficultyBehindUser, difficultyInPassword } from './hints.ts'
import type { Jobs, RigJob, ShareHash } from './jobs.ts'
import type { RigLimits } from './limits.ts'
import { type Nonce1Bits, nonce2Bytes } from './nonce-parts.ts'
import { answered, configured, type ReplyTo, replyLine } from './replies.ts'
import { LEAST_ROLL_MS, rollMs } from './rolls.ts'
import { SeenShares } from './seen-shares.ts'
import { introduced, judged, type Rig, type Share, type ShareContext, shareOf } from './share.ts'
import { ShareDifficulty } from './share-difficulty.ts'

const MAX_TEXT = 512
/** Users that one connection may have, such as that of a farm's proxy. Further ones count for the first. */
const MAX_USERS_OF_SESSION = 1024
/** A fresh job is urgent where shares get so many times harder. */
const URGENT = 4
/** Lines that are no messages; with more the client is closed, since it speaks something else. */
const MAX_GARBAGE = 3

/** What a session needs of the server. */
export interface SessionPorts {
  readonly jobs: Jobs
  readonly shareHash: ShareHash
  readonly limits: RigLimits
  /** 8 for a proxy of newcut. */
  readonly nonce1Bits: Nonce1Bits
  readonly nowMs: () => number
  /** `sequence`: of the work that the lines tell of; null: of none. */
  readonly write: (lines: string, sequence: number | null) => void
  /** Closes the connection once the line that is read has its answer. */
  readonly close: (reason: CloseReason | null) => void
  /** Takes this value of nonce1 too, until the end of the session; false: another session has it. */
  readonly claim: (nonce1: number) => boolean
  /** Whether something that was written before has not been taken by the network. */
  readonly isBehind: () => boolean
  readonly isBanned: (user: string) => boolean
  /** A user of the session is known: whom its shares count for. */
  readonly onUser: (user: string) => Rig
  /** IP address of the client. */
  readonly address: string
  /** Hashes that the first shares of a rig take on average; `agent`: what its program says of itself. */
  readonly firstDifficulty: (rig: Rig, agent: string) => number
  /** It has subscribed and authorized: it gets jobs from now on. */
  readonly onReady: (session: Session) => void
  /** A share is judged. `tell` is called once, now or later, with what the rig is told of it. */
  readonly onShare: (session: Session, share: Share, tell: (verdict: ShareVerdict) => void) => void
  /** A line that is no message. */
  readonly onGarbage: (session: Session) => void
  /** A request was refused for another reason than what a share is. */
  readonly onRefused: (reason: RequestRefusal) => void
  /**
   * It should get a fresh job, since its shares get another difficulty, or its nonces are used up. Urgent: its shares are far
   * too easy, and more of them come all the time.
   */
  readonly onNeed: (session: Session, isUrgent: boolean) => void
}

/** null: the answer comes by itself. */
type Handler = (session: Session, params: readonly unknown[], id: MessageId) => ReplyTo | null

export class Session {
  static readonly #handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ['mining.subscribe', (session, params) => session.#subscribe(params)],
    ['mining.authorize', (session, params) => session.#authorize(params)],
    ['mining.submit', (session, params, id) => session.#submit(params, id)],
    ['mining.extranonce.subscribe', () => answered(true)],
    ['mining.configure', (_session, params) => configured(params)],
    ['mining.suggest_difficulty', (session, [difficulty]) => session.#suggest(difficulty)],
    ['mining.suggest_target', (session, [target]) => session.#suggestTarget(target)],
    ['eth_submitHashrate', (session, [rate]) => session.#announce(rate)],
    ['mining.ping', () => answered('pong')],
    ['client.get_version', () => answered('newcut')],
  ])
  #nonce1: number
  /** How it writes nonces; null: not known. */
  #order: ByteOrder | null = null
  readonly #ports: SessionPorts
  #agent = ''
  #suggested: number | null = null
  #isSubscribed = false
  /** Those that authorized, by what they call themselves. */
  readonly #rigs = new Map<string, Rig>()
  /** The first of them is the rig itself; null: it has not authorized. */
  #first: Rig | null = null
  /** null: it has not both subscribed and authorized. */
  #difficulty: ShareDifficulty | null = null
  #garbage = 0
  readonly #seen: SeenShares
  #line = ''
  #firstLine = ''
  /** When it was sent its newest job, or the target in place of one; null: it had none. */
  #sentAtMs: number | null = null
  /** The difficulty that its workers were last said to have; null: nothing was said. */
  #lasting: number | null = null
  /** How long it may search a job. */
  #rollMs = LEAST_ROLL_MS
  readonly #sinceMs: number

  constructor(nonce1: number, ports: SessionPorts) {
    this.#nonce1 = nonce1
    this.#ports = ports
    this.#sinceMs = ports.nowMs()
    this.#seen = new SeenShares(ports.limits.sharesPerJob)
  }

  /** The low two bytes of its nonces, which do not change once it is ready. */
  get nonce1(): number {
    return this.#nonce1
  }

  get isReady(): boolean {
    return this.#difficulty !== null
  }

  /** Whether the client reads more slowly than it is written to. */
  get isBehind(): boolean {
    return this.#ports.isBehind()
  }

  /** Whom it counts for, in the order in which they authorized. */
  get rigs(): Iterable<Rig> {
    return this.#rigs.values()
  }

  /** The line that is read, and the first one of all. */
  get line(): string {
    return this.#line
  }

  get firstLine(): string {
    return this.#firstLine
  }

  /** A line that the client sent, without its end. */
  receive(line: string): void {
    this.#line = line
    if (this.#firstLine === '') this.#firstLine = line.slice(0, MAX_TEXT)
    let message: ReturnType<typeof readMessage>
    try {
      message = readMessage(line)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      this.#ports.onGarbage(this)
      this.#ports.onRefused('line')
      this.#ports.write(replyLine(null, refusals.line), null)
      if (++this.#garbage >= MAX_GARBAGE) this.#ports.close('garbage')
      return
    }
    // Answers to what was told are not needed.
    if (message.kind === 'request') this.#request(message)
  }

  /** Gives the client a job, and the target of its shares where that changes. */
  send(job: RigJob): void {
    this.#sentAtMs = this.#ports.nowMs()
    const target = this.#difficulty?.tell(job, this.#sentAtMs) ?? null
    const before = target === null ? '' : requestLine(null, 'mining.set_target', [targetText(target)])
    this.#ports.write(before + job.line, job.sequence)
  }

  /** Looks whether other difficulty fits by now, and how long the rig may search a job. Asks for a fresh job then. */
  look(): void {
    if (this.#difficulty === null) return
    const { told, wanted, lasting } = this.#difficulty
    for (const { worker, presence } of this.#rigs.values()) {
      // Another connection of the worker may know more: a spare one knows nothing.
      if (lasting !== this.#lasting) worker.difficulty = lasting
      presence.difficulty = told ?? wanted
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

  /** The rate of a connection with several workers is none of theirs. */
  #measure({ rate, wanted, isFlooding }: ShareDifficulty): void {
    const worker = this.#rigs.size === 1 ? (this.#first?.worker ?? null) : null
    if (worker !== null) worker.rate = rate ?? worker.rate
    if (worker !== null && this.#first !== null) this.#first.presence.rate = rate
    const known = { agent: this.#agent, rate: rate ?? worker?.rate ?? null, difficulty: wanted, isFlooding }
    // Nothing is known of the rigs behind a proxy: it gets as many headers as the fastest rig.
    const isProxy = this.#ports.nonce1Bits === 8
    this.#rollMs = isProxy ? LEAST_ROLL_MS : rollMs(known, this.#ports.limits.noncesPerJob)
  }

  /** Whether it needs a fresh job: it may have tried too many nonces of the one it has, or has heard nothing for long. */
  get isDue(): boolean {
    if (this.#difficulty === null || this.isBehind) return false
    return this.#ports.nowMs() - (this.#sentAtMs ?? this.#sinceMs) >= this.#rollMs
  }

  /** Says something to whoever looks at the rig. */
  show(message: string): void {
    this.#ports.write(requestLine(null, 'client.show_message', [message]), null)
  }

  /** A line for a rig that waits for the first work: it leaves a server that is silent. */
  remind(): void {
    if (this.#difficulty === null) return
    this.#sentAtMs = this.#ports.nowMs()
    const target = targetText(targetOfShares(this.#difficulty.wanted))
    this.#ports.write(requestLine(null, 'mining.set_target', [target]), null)
  }

  #request(request: Request): void {
    const { id, method } = request
    const handler = Session.#handlers.get(method)
    if (handler !== undefined) this.#answer(id, this.#handled(handler, request))
    else if (method.startsWith('client.')) this.#answer(id, answered(null))
    else this.#answer(id, refusals.method)
    if (method === 'mining.subscribe' || method === 'mining.authorize') this.#begin()
  }

  #handled(handler: Handler, request: Request): ReplyTo | null {
    if (request.unlisted !== undefined) return refusals.parameters
    try {
      return handler(this, request.params, request.id)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      return request.method === 'mining.suggest_target' ? refusals.target : refusals.difficulty
    }
  }

  /** A notification has no answer: rigs take the first line that comes as the one to what they asked. */
  #answer(id: MessageId, reply: ReplyTo | null): void {
    if (reply === null) return
    if ('reason' in reply) this.#ports.onRefused(reply.reason)
    if (id !== null) this.#ports.write(replyLine(id, reply), null)
  }

  /** Once it has done both, in whichever order: only then are its program and its user known. */
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
    for (const rig of this.#rigs.values()) introduced(rig, this.#ports.address, this.#agent)
    // Its password may have said it before.
    this.#order ??= orderOf(this.#agent)
    this.#isSubscribed = true
    const bits = this.#ports.nonce1Bits
    return answered([null, nonce1Text({ bits, value: this.#nonce1 }, this.#order), nonce2Bytes(bits)])
  }

  /**
   * The rig writes nonces in this order. Where it was told its nonce1 before, it reads that with the bytes the other way
   * round. False: that nonce1 belongs to another session.
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
    const { user: name, difficulty } = difficultyBehindUser(user)
    if (this.#ports.isBanned(name)) {
      if (this.#rigs.size === 0) this.#ports.close('worker_banned')
      return refusals.banned
    }
    if (this.#rigs.size > 0) {
      if (!this.#rigs.has(user) && this.#rigs.size < MAX_USERS_OF_SESSION)
        this.#rigs.set(user, introduced(this.#ports.onUser(name), this.#ports.address, this.#agent))
      return answered(true)
    }
    const order = orderAsked(password)
    if (order !== null && !this.#reorder(order)) {
      // It comes again, and is given another nonce1.
      this.#ports.close('nonce1')
      return answered(true)
    }
    this.#first = introduced(this.#ports.onUser(name), this.#ports.address, this.#agent)
    this.#rigs.set(user, this.#first)
    const asked = difficultyInPassword(password) ?? difficulty
    return asked === null ? answered(true) : this.#suggest(asked)
  }

  #suggestTarget(target: unknown): ReplyTo {
    const difficulty = difficultyOf(readTarget(textIn(target)))
    return difficulty === null ? refusals.target : this.#suggest(Number(difficulty))
  }

  #suggest(asked: unknown): ReplyTo {
    const difficulty = numberIn(asked)
    if (!(difficulty > 0)) return refusals.difficulty
    this.#suggested = difficulty
    if (this.#difficulty !== null) {
      this.#difficulty.suggest(difficulty, this.#ports.nowMs())
      this.#ports.onNeed(this, false)
    }
    return answered(true)
  }

  /** Parameters behind the first three are ignored: some rigs add the chain. */
  #submit(params: readonly unknown[], id: MessageId): null {
    const [user] = params
    const rig = (typeof user === 'string' ? this.#rigs.get(user) : undefined) ?? this.#first
    const isBanned = this.#rigs.size > 1 && rig !== null && rig.worker.bannedUntilMs > this.#ports.nowMs()
    const share = isBanned ? shareOf(rig, 'unauthorized') : judged(params, this.#contextOf(rig))
    this.#ports.onShare(this, share, (verdict) =>
      this.#answer(id, this.#replyTo(params, isBanned ? 'banned' : verdict)),
    )
    if (this.#difficulty?.isPressing) this.#adjust(this.#difficulty)
    return null
  }

  #contextOf(rig: Rig | null): ShareContext {
    const { jobs, shareHash, nowMs, nonce1Bits, onNeed } = this.#ports
    return {
      ...{ rig, jobs, shareHash, nonce1Bits, isSubscribed: this.#isSubscribed, difficulty: this.#difficulty },
      ...{ nonce1: this.#nonce1, order: this.#order ?? 'usual', seen: this.#seen, nowMs: nowMs() },
      onFull: () => onNeed(this, true),
    }
  }

  #replyTo(params: readonly unknown[], verdict: ShareVerdict | 'banned'): ReplyTo {
    if (verdict === 'accepted') return answered(true)
    if (verdict === 'banned') return refusals.banned
    return verdict === 'malformed' ? shareFault(params, 2 * nonce2Bytes(this.#ports.nonce1Bits)) : { failure: verdict }
  }

  #announce(rate: unknown): ReplyTo {
    const announced = announcedRate(textIn(rate))
    if (announced === null) return refusals.rate
    if (this.#first !== null) this.#first.presence.announced = announced
    return answered(true)
  }
}
