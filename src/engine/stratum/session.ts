/** What one client says and is told (PROTOCOL.md F), without its socket: lines in, lines out. */
import { FormatError } from '../../core/errors.ts'
import { isAtMost } from '../../core/pow.ts'
import { difficultyOf } from '../../core/target.ts'
import {
  type FailureName,
  failureLine,
  type MessageId,
  type Request,
  readMessage,
  requestLine,
  resultLine,
} from '../../stratum/messages.ts'
import { type ByteOrder, nonce1Text, nonce2Number } from '../../stratum/nonces.ts'
import { readTarget, targetText } from '../../stratum/targets.ts'
import type { ShareVerdict } from '../engine.ts'
import { orderAsked, orderOf } from './byte-order.ts'
import { type Jobs, nonceOfShare, type RigJob, shareHash } from './jobs.ts'
import type { RigLimits } from './limits.ts'
import { ShareDifficulty } from './share-difficulty.ts'
import type { User } from './users.ts'
import type { Worker } from './workers.ts'

/** Bytes of nonce2: what rigs of these networks know. */
const NONCE2_BYTES = 6
const NONCE2 = new RegExp(`^[0-9a-f]{1,${2 * NONCE2_BYTES}}$`, 'i')
const MAX_TEXT = 512
/** Jobs of which the shares are remembered. Shares of older ones are stale. */
const MAX_JOBS_WITH_SHARES = 16
/** Lines that are no messages; with more the client is closed, since it speaks something else. */
const MAX_GARBAGE = 3

/** What a session needs of the server. */
export interface SessionPorts {
  readonly jobs: Jobs
  readonly limits: RigLimits
  readonly nowMs: () => number
  /** `sequence`: of the work that the lines tell of; null: of none. */
  readonly write: (lines: string, sequence: number | null) => void
  readonly close: () => void
  /** Takes this value of nonce1 too, until the end of the session; false: another session has it. */
  readonly claim: (nonce1: number) => boolean
  /** Whether something that was written before has not been taken by the network. */
  readonly isBehind: () => boolean
  /** The user of the session is known: whom it counts for, and the difficulty of its first shares. */
  readonly onUser: (session: Session, user: string, agent: string) => Rig & { readonly difficulty: number }
  /** It has subscribed and authorized: it gets jobs from now on. */
  readonly onReady: (session: Session) => void
  readonly onShare: (session: Session, share: Share) => void
  /** A line that is no message. */
  readonly onGarbage: (session: Session) => void
  /** It should get a fresh job, since its shares get another difficulty, or its nonces are used up. */
  readonly onNeed: (session: Session) => void
}

export interface Share {
  readonly verdict: ShareVerdict
  /** Hashes that it took on average; 0 unless it is accepted. */
  readonly hashes: number
  /** A nonce that solves the work itself. */
  readonly solution?: { readonly job: RigJob; readonly nonce: bigint } | undefined
}

/** Whom the shares of a session count for. */
export interface Rig {
  readonly worker: Worker
  readonly user: User
}

type Answer = { readonly result: unknown } | { readonly failure: FailureName }
type Handler = (session: Session, params: readonly unknown[]) => Answer
const answered = (result: unknown): Answer => ({ result })

export class Session {
  static readonly #handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
    ['mining.subscribe', (session, params) => session.#subscribe(params)],
    ['mining.authorize', (session, params) => session.#authorize(params)],
    ['mining.submit', (session, params) => session.#submit(params)],
    ['mining.extranonce.subscribe', () => answered(true)],
    ['mining.configure', (_session, params) => configured(params)],
    ['mining.suggest_difficulty', (session, [difficulty]) => session.#suggest(Number(difficulty))],
    ['mining.suggest_target', (session, [target]) => session.#suggestTarget(target)],
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
  #rig: Rig | null = null
  #difficulty: ShareDifficulty | null = null
  #hasBegun = false
  #garbage = 0
  /** Job -> nonces of its shares. */
  readonly #shares = new Map<number, Set<number>>()
  /** Shares of earlier jobs are stale: theirs were forgotten. */
  #firstJob = 0
  /** When it was sent its newest job; null: it had none. */
  #sentAtMs: number | null = null
  /** Expected hashes of its shares, and since when. */
  #hashes = 0
  readonly #sinceMs: number

  constructor(nonce1: number, ports: SessionPorts) {
    this.#nonce1 = nonce1
    this.#ports = ports
    this.#sinceMs = ports.nowMs()
  }

  /** The low two bytes of its nonces, which do not change once it is ready. */
  get nonce1(): number {
    return this.#nonce1
  }

  get isReady(): boolean {
    return this.#isSubscribed && this.#rig !== null
  }

  /** Whether the client reads more slowly than it is written to. */
  get isBehind(): boolean {
    return this.#ports.isBehind()
  }

  /** null: it has not authorized. */
  get rig(): Rig | null {
    return this.#rig
  }

  /** A line that the client sent, without its end. */
  receive(line: string): void {
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
    const target = this.#difficulty?.tell(job) ?? null
    const before = target === null ? '' : requestLine(null, 'mining.set_target', [targetText(target)])
    this.#ports.write(before + job.line, job.sequence)
  }

  /**
   * Looks whether other difficulty fits by now, or the rig has tried most nonces of its job: 2^48, which a fast ASIC
   * does in seconds. Asks for a fresh job then.
   */
  look(): void {
    const { nowMs, jobs, limits, onNeed } = this.#ports
    const job = jobs.current
    if (job === null || this.#sentAtMs === null || this.#difficulty === null) return
    const isOther = this.#difficulty.adjust(nowMs(), job.difficulty)
    if (this.#rig !== null) this.#rig.worker.difficulty = this.#difficulty.wanted
    const rate = this.#hashes / Math.max(10_000, nowMs() - this.#sinceMs)
    const tried = rate * (nowMs() + 1000 - this.#sentAtMs)
    if (isOther || tried > limits.noncesPerJob) onNeed(this)
  }

  #request({ id, method, params }: Request): void {
    const handler = Session.#handlers.get(method)
    if (handler !== undefined) this.#answer(id, handler(this, params))
    else if (method.startsWith('client.')) this.#answer(id, answered(null))
    else this.#answer(id, { failure: 'unknown' })
    if (method === 'mining.subscribe' || method === 'mining.authorize') this.#begin()
  }

  #answer(id: MessageId, answer: Answer): void {
    this.#ports.write('failure' in answer ? failureLine(id, answer.failure) : resultLine(id, answer.result), null)
  }

  /** Once it has done both, in whichever order. */
  #begin(): void {
    if (this.#hasBegun || !this.isReady) return
    this.#hasBegun = true
    this.#ports.onReady(this)
  }

  #subscribe([agent]: readonly unknown[]): Answer {
    if (typeof agent === 'string') this.#agent = agent.slice(0, MAX_TEXT)
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

  #authorize([user, password]: readonly unknown[]): Answer {
    if (typeof user !== 'string' || user.length > MAX_TEXT) return { failure: 'malformed' }
    // A session is one rig: further users change nothing.
    if (this.#rig !== null) return answered(true)
    const order = orderAsked(password)
    if (order !== null && !this.#reorder(order)) {
      // It comes again, and is given another nonce1.
      this.#ports.close()
      return answered(true)
    }
    const { worker, user: of, difficulty } = this.#ports.onUser(this, user, this.#agent)
    const { nowMs } = this.#ports
    this.#rig = { worker, user: of }
    this.#difficulty = new ShareDifficulty(difficulty, nowMs())
    if (this.#suggested !== null) this.#difficulty.suggest(this.#suggested, nowMs())
    return answered(true)
  }

  #suggest(difficulty: number): Answer {
    if (!(difficulty > 0)) return { failure: 'malformed' }
    this.#suggested = difficulty
    if (this.#difficulty !== null) {
      this.#difficulty.suggest(difficulty, this.#ports.nowMs())
      if (this.isReady) this.#ports.onNeed(this)
    }
    return answered(true)
  }

  #suggestTarget(text: unknown): Answer {
    try {
      return this.#suggest(Number(difficultyOf(readTarget(String(text))) ?? 0n))
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      return { failure: 'malformed' }
    }
  }

  #submit(params: readonly unknown[]): Answer {
    const share = this.#judged(params)
    this.#ports.onShare(this, share)
    if (this.#difficulty?.adjust(this.#ports.nowMs(), this.#ports.jobs.current?.difficulty ?? Number.MAX_VALUE)) {
      this.#ports.onNeed(this)
    }
    return share.verdict === 'accepted' ? answered(true) : { failure: share.verdict }
  }

  #judged([, id, text]: readonly unknown[]): Share {
    const refused = (verdict: ShareVerdict): Share => ({ verdict, hashes: 0 })
    if (!this.#isSubscribed) return refused('unsubscribed')
    if (this.#difficulty === null) return refused('unauthorized')
    if (typeof id !== 'string' || typeof text !== 'string' || !NONCE2.test(text)) return refused('malformed')
    const { jobs } = this.#ports
    const job = jobs.find(id)
    if (job === undefined) return refused('malformed')
    if (job === null || job.number < this.#firstJob) return refused('stale')
    const told = this.#difficulty.heldFor(job)
    if (told === undefined) return refused('stale')
    const nonce2 = nonce2Number(text, 2 * NONCE2_BYTES, this.#order ?? 'usual')
    const shares = this.#sharesOf(job)
    if (shares.has(nonce2)) return refused('duplicate')
    const hash = shareHash(job, this.#nonce1, nonce2)
    if (!isAtMost(hash, told.targetWords)) return refused('low')
    shares.add(nonce2)
    this.#difficulty.count()
    const solution = isAtMost(hash, job.targetWords) ? { job, nonce: nonceOfShare(this.#nonce1, nonce2) } : undefined
    if (jobs.isOver(job)) return { verdict: 'stale', hashes: 0, solution }
    this.#hashes += told.difficulty
    return { verdict: 'accepted', hashes: told.difficulty, solution }
  }

  /** The nonces of a job's shares so far. Neither the jobs nor the nonces grow without bound. */
  #sharesOf({ number }: RigJob): Set<number> {
    let shares = this.#shares.get(number)
    if (shares === undefined) {
      shares = new Set()
      this.#shares.set(number, shares)
      if (this.#shares.size > MAX_JOBS_WITH_SHARES) this.#forget(Math.min(...this.#shares.keys()))
    }
    if (shares.size >= this.#ports.limits.sharesPerJob) {
      // All that follow are stale, and the rig goes on with the fresh job.
      this.#forget(number)
      this.#ports.onNeed(this)
    }
    return shares
  }

  /** Shares of this job and those before are stale from now on. */
  #forget(number: number): void {
    this.#firstJob = number + 1
    for (const old of this.#shares.keys()) if (old <= number) this.#shares.delete(old)
  }
}

/** None of the extensions is for these networks. */
function configured([extensions]: readonly unknown[]): Answer {
  const names = Array.isArray(extensions) ? extensions.filter((name) => typeof name === 'string') : []
  return answered(Object.fromEntries(names.slice(0, 8).map((name) => [name.slice(0, 64), false])))
}
