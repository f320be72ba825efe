/** What one client says and is told (PROTOCOL.md F), without its socket: lines in, lines out. */
import type { Presence } from '../../accounts/accounts.ts'
import { FormatError } from '../../core/errors.ts'
import { isAtMost } from '../../core/pow.ts'
import { printable } from '../../core/printable.ts'
import { difficultyOf } from '../../core/target.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import {
  type FailureName,
  failureLine,
  listOf,
  type MessageId,
  numberIn,
  type Request,
  readMessage,
  requestLine,
  resultLine,
  textIn,
} from '../../stratum/messages.ts'
import { type ByteOrder, nonce1Text, nonce2Number } from '../../stratum/nonces.ts'
import { readTarget, targetOfShares, targetText } from '../../stratum/targets.ts'
import { orderAsked, orderOf } from './byte-order.ts'
import { announcedRate, noExtensions } from './extensions.ts'
import { difficultyBehindUser, difficultyInPassword } from './hints.ts'
import { type Jobs, nonceOfShare, type RigJob, type ShareHash } from './jobs.ts'
import type { RigLimits } from './limits.ts'
import { LEAST_ROLL_MS, rollMs } from './rolls.ts'
import { SeenShares } from './seen-shares.ts'
import { ShareDifficulty } from './share-difficulty.ts'
import type { User } from './users.ts'
import type { Worker } from './workers.ts'

/** Bytes of nonce2: what rigs of these networks know. */
const NONCE2_BYTES = 6
const NONCE2 = new RegExp(`^[0-9a-f]{1,${2 * NONCE2_BYTES}}$`, 'i')
const MAX_TEXT = 512
const MAX_AGENT = 64
/** Users that one connection may have, such as that of a farm's proxy. Further ones count for the first. */
const MAX_USERS_OF_SESSION = 1024
/** Lines that are no messages; with more the client is closed, since it speaks something else. */
const MAX_GARBAGE = 3

/** What a session needs of the server. */
export interface SessionPorts {
  readonly jobs: Jobs
  readonly shareHash: ShareHash
  readonly limits: RigLimits
  readonly nowMs: () => number
  /** `sequence`: of the work that the lines tell of; null: of none. */
  readonly write: (lines: string, sequence: number | null) => void
  /** Closes the connection once the line that is read has its answer. */
  readonly close: () => void
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
  /** It should get a fresh job, since its shares get another difficulty, or its nonces are used up. */
  readonly onNeed: (session: Session) => void
}

export interface Share {
  readonly verdict: ShareVerdict
  /** Whom it counts for; null: the session has not authorized. */
  readonly rig: Rig | null
  /** Hashes that it took on average; 0 unless it is accepted, and meets what the rig was told for its job. */
  readonly hashes: number
  /** A nonce that solves the work itself. */
  readonly solution?: { readonly job: RigJob; readonly nonce: bigint } | undefined
  /** Job and hash of an accepted share. */
  readonly kept?: { readonly job: RigJob; readonly hash: Uint32Array } | undefined
  /** Its job was never handed out here. */
  readonly isUnknownJob?: boolean | undefined
}

/** Whom the shares of a session count for. */
export interface Rig {
  readonly worker: Worker
  readonly user: User
  readonly presence: Presence
}

type ReplyTo = { readonly result: unknown } | { readonly failure: FailureName }
/** null: the answer comes by itself. */
type Handler = (session: Session, params: readonly unknown[], id: MessageId) => ReplyTo | null
const answered = (result: unknown): ReplyTo => ({ result })

export class Session {
  static readonly #handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ['mining.subscribe', (session, params) => session.#subscribe(params)],
    ['mining.authorize', (session, params) => session.#authorize(params)],
    ['mining.submit', (session, params, id) => session.#submit(params, id)],
    ['mining.extranonce.subscribe', () => answered(true)],
    ['mining.configure', (_session, params) => answered(noExtensions(params))],
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
      this.#ports.write(failureLine(null, 'malformed'), null)
      if (++this.#garbage >= MAX_GARBAGE) this.#ports.close()
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
    const { wanted } = this.#difficulty
    for (const { worker, presence } of this.#rigs.values()) {
      worker.difficulty = wanted
      presence.difficulty = wanted
    }
    if (this.#sentAtMs !== null && this.#ports.jobs.current !== null) this.#adjust(this.#difficulty)
    this.#measure(this.#difficulty)
  }

  #adjust(difficulty: ShareDifficulty): void {
    const { nowMs, jobs, onNeed } = this.#ports
    if (!difficulty.adjust(nowMs(), jobs.current?.difficulty ?? Number.MAX_VALUE)) return
    this.#measure(difficulty)
    onNeed(this)
  }

  /** The rate of a connection with several workers is none of theirs. */
  #measure({ rate, wanted }: ShareDifficulty): void {
    const worker = this.#rigs.size === 1 ? (this.#first?.worker ?? null) : null
    if (worker !== null) worker.rate = rate ?? worker.rate
    if (worker !== null && this.#first !== null) this.#first.presence.rate = rate
    const known = { agent: this.#agent, rate: rate ?? worker?.rate ?? null, difficulty: wanted }
    this.#rollMs = rollMs(known, this.#ports.limits.noncesPerJob)
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
    else this.#answer(id, { failure: 'unknown' })
    if (method === 'mining.subscribe' || method === 'mining.authorize') this.#begin()
  }

  #handled(handler: Handler, request: Request): ReplyTo | null {
    try {
      return handler(this, listOf(request), request.id)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      return { failure: 'malformed' }
    }
  }

  /** A notification has no answer: rigs take the first line that comes as the one to what they asked. */
  #answer(id: MessageId, answer: ReplyTo | null): void {
    if (id === null || answer === null) return
    this.#ports.write('failure' in answer ? failureLine(id, answer.failure) : resultLine(id, answer.result), null)
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
    for (const { presence } of this.#rigs.values()) presence.agent = printable(this.#agent, MAX_AGENT)
    // Its password may have said it before.
    this.#order ??= orderOf(this.#agent)
    this.#isSubscribed = true
    return answered([null, nonce1Text({ bits: 16, value: this.#nonce1 }, this.#order), NONCE2_BYTES])
  }

  /**
   * The rig writes nonces in this order. Where it was told its nonce1 before, it reads that with the bytes the other way
   * round. False: that nonce1 belongs to another session.
   */
  #reorder(order: ByteOrder): boolean {
    const isOther = this.#isSubscribed && order !== this.#order
    this.#order = order
    if (!isOther) return true
    const nonce1 = (this.#nonce1 >> 8) | ((this.#nonce1 & 0xff) << 8)
    if (nonce1 !== this.#nonce1 && !this.#ports.claim(nonce1)) return false
    this.#nonce1 = nonce1
    return true
  }

  #authorize([user, password]: readonly unknown[]): ReplyTo {
    if (typeof user !== 'string' || user.length > MAX_TEXT) return { failure: 'malformed' }
    const { user: name, difficulty } = difficultyBehindUser(user)
    if (this.#ports.isBanned(name)) {
      if (this.#rigs.size === 0) this.#ports.close()
      return { failure: 'banned' }
    }
    if (this.#rigs.size > 0) {
      if (!this.#rigs.has(user) && this.#rigs.size < MAX_USERS_OF_SESSION) this.#rigs.set(user, this.#joined(name))
      return answered(true)
    }
    const order = orderAsked(password)
    if (order !== null && !this.#reorder(order)) {
      // It comes again, and is given another nonce1.
      this.#ports.close()
      return answered(true)
    }
    this.#first = this.#joined(name)
    this.#rigs.set(user, this.#first)
    const asked = difficultyInPassword(password) ?? difficulty
    return asked === null ? answered(true) : this.#suggest(asked)
  }

  #joined(name: string): Rig {
    const rig = this.#ports.onUser(name)
    rig.presence.address = this.#ports.address
    rig.presence.agent = printable(this.#agent, MAX_AGENT)
    return rig
  }

  #suggestTarget(target: unknown): ReplyTo {
    return this.#suggest(Number(difficultyOf(readTarget(textIn(target))) ?? 0n))
  }

  #suggest(asked: unknown): ReplyTo {
    const difficulty = numberIn(asked)
    if (!(difficulty > 0)) return { failure: 'malformed' }
    this.#suggested = difficulty
    if (this.#difficulty !== null) {
      this.#difficulty.suggest(difficulty, this.#ports.nowMs())
      this.#ports.onNeed(this)
    }
    return answered(true)
  }

  /** Parameters behind the first three are ignored: some rigs add the chain. */
  #submit(params: readonly unknown[], id: MessageId): null {
    const [user] = params
    const rig = (typeof user === 'string' ? this.#rigs.get(user) : undefined) ?? this.#first
    const isBanned = this.#rigs.size > 1 && rig !== null && rig.worker.bannedUntilMs > this.#ports.nowMs()
    const share = isBanned ? shareOf(rig, 'unauthorized') : this.#judged(params, rig)
    this.#ports.onShare(this, share, (verdict) => {
      if (verdict === 'accepted') this.#answer(id, answered(true))
      else this.#answer(id, { failure: isBanned ? 'banned' : verdict })
    })
    if (this.#difficulty?.isPressing) this.#adjust(this.#difficulty)
    return null
  }

  #announce(rate: unknown): ReplyTo {
    const announced = announcedRate(textIn(rate))
    if (announced === null) return { failure: 'malformed' }
    if (this.#first !== null) this.#first.presence.announced = announced
    return answered(true)
  }

  /** Every share of a job that is known is hashed: one that solves the work is handed in, whatever the rig is told. */
  #judged([, id, text]: readonly unknown[], rig: Rig | null): Share {
    if (!this.#isSubscribed) return shareOf(rig, 'unsubscribed')
    if (this.#difficulty === null) return shareOf(rig, 'unauthorized')
    if (typeof id !== 'string' || id === '') return shareOf(rig, 'malformed')
    if (typeof text !== 'string' || !NONCE2.test(text)) return shareOf(rig, 'malformed')
    const { jobs, shareHash, nowMs } = this.#ports
    const job = jobs.find(id)
    if (job === null) return { ...shareOf(rig, 'stale'), isUnknownJob: !jobs.hadId(id) }
    const nonce2 = nonce2Number(text, 2 * NONCE2_BYTES, this.#order ?? 'usual')
    const shares = this.#seen.of(job)
    if (shares?.has(nonce2)) return shareOf(rig, 'duplicate')
    const hash = shareHash(job, this.#nonce1, nonce2)
    const solution = isAtMost(hash, job.targetWords) ? { job, nonce: nonceOfShare(this.#nonce1, nonce2) } : undefined
    const told = this.#difficulty.heldFor(job)
    // What is forgotten could be handed in twice, or does not say what its shares are worth.
    if (shares === null || told === undefined) return shareOf(rig, 'stale', 0, solution)
    const isWhole = isAtMost(hash, told.targetWords)
    // One that meets an easier target that came later is right, and adds nothing to what the job's own shares tell.
    if (!isWhole && !this.#difficulty.meetsLater(job, hash, nowMs())) return shareOf(rig, 'low', 0, solution)
    // The rig goes on with a fresh job.
    if (this.#seen.add(job, nonce2)) this.#ports.onNeed(this)
    this.#difficulty.count(job, hash, nowMs())
    if (jobs.isOver(job)) return shareOf(rig, 'stale', 0, solution)
    return { verdict: 'accepted', rig, hashes: isWhole ? told.difficulty : 0, solution, kept: { job, hash } }
  }
}

function shareOf(rig: Rig | null, verdict: ShareVerdict, hashes = 0, solution: Share['solution'] = undefined): Share {
  return { verdict, rig, hashes, solution }
}
