/**
 * A rig of a pool: passes on messages of its own pool session, and submits its shares there. Lines in, lines out.
 */
import { FormatError } from '#ground/base/errors.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import {
  failureLine,
  listParams,
  type MessageId,
  type Request,
  requestLine,
  resultLine,
} from '../../stratum/messages.ts'
import type { ByteOrder } from '../../stratum/nonces.ts'
import type { RigPoolJob, RigPoolSession, RigSlot } from '../../stratum/passthrough.ts'
import { type CloseReason, type Refusal, refusals as wrong } from '../../stratum/refusals.ts'
import { orderOf } from '../stratum/byte-order.ts'
import { difficultyAfterUser } from '../stratum/hints.ts'
import { constantReply, type ReplyTo, replyLine } from '../stratum/replies.ts'
import { MAX_TEXT, RigInput } from '../stratum/rig-input.ts'
import type { ServedSession, SocketPorts } from '../stratum/served.ts'
import { introduce, type Rig, type Share } from '../stratum/share.ts'
import { workerKey } from '../stratum/workers.ts'
import { changesNonce1, workerNameFor } from './names.ts'
import type { ProxyPorts } from './ports.ts'
import { nonceRefusal, type RefusalName, refusalLines } from './refusals.ts'
import { jobLine, nonce1For, nonceLine, RigWriter, targetLine } from './rig-writer.ts'
import { type ProxyShareContext, type ProxyUser, SubmittedShares } from './shares.ts'

/** Timeout of the log-in; rigs wait 30 s for the answer to their subscription. */
const MAX_LOGIN_MS = 15_000
/** Maximum silence towards a rig, which leaves after a minute. Sessions are checked once a second. */
const MAX_SILENCE_MS = 25_000
/** Maximum number of users on a connection: each costs a request to the pool. */
const MAX_USERS = 200

export class ProxySession implements ServedSession {
  readonly #ports: ProxyPorts & SocketPorts<ProxySession>
  #agent = ''
  #order: ByteOrder = 'usual'
  #changesNonce1 = false
  #seat: RigSlot | null = null
  #line: RigPoolSession | null = null
  /** Time since which it waits for a pool session, or null. */
  #waitingSinceMs: number | null = null
  /** The unanswered subscription, or null. */
  #pendingSubscription: { readonly id: MessageId } | null = null
  #isSubscribed = false
  /** Users that wait for a pool session. */
  readonly #pendingUsers: { readonly id: MessageId; readonly text: string }[] = []
  /** By user text; the first is the rig itself. */
  readonly #rigs = new Map<string, ProxyUser>()
  #isReady = false
  /** Whether messages of the pool are passed on. */
  #isPassing = false
  readonly #shares: SubmittedShares
  #target: bigint | null = null
  readonly #writer: RigWriter
  #isOver = false
  readonly #input = new RigInput({
    onRequest: (request) => this.#request(request),
    onGarbage: (isTooMuch) => this.#refuseLine(isTooMuch),
  })

  constructor(ports: ProxyPorts & SocketPorts<ProxySession>) {
    this.#ports = ports
    const { nowMs, isBanned, onRefused } = ports
    const write = (text: string) => ports.write(text, null)
    this.#writer = new RigWriter({ nowMs, write, onFull: () => this.#close('slow_reader') })
    // The pool decides on the answer to the rig.
    const onShare = (share: Share) => ports.onShare(this, share, () => undefined)
    this.#shares = new SubmittedShares({ nowMs, isBanned, onShare, onRefused, say: (text) => this.#say(text) })
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get rigs(): Iterable<Rig> {
    return [...this.#rigs.values()].map(({ rig }) => rig)
  }

  /** The start of the current line. */
  get line(): string {
    return this.#input.line.slice(0, MAX_TEXT)
  }

  get firstLine(): string {
    return this.#input.firstLine
  }

  receive(line: string): void {
    if (!this.#isOver) this.#input.receive(line)
  }

  #refuseLine(isTooMuch: boolean): void {
    this.#ports.onGarbage(this)
    this.#deny(null, wrong.line)
    if (isTooMuch) this.#close('garbage')
  }

  show(message: string): void {
    this.#say(requestLine(null, 'client.show_message', [message]))
  }

  /** Refuses a rig that waits too long for a pool session, and sends lines while the pool is silent. */
  check(): void {
    if (this.#isOver) return
    const nowMs = this.#ports.nowMs()
    if (!this.#isReady) {
      const isLate = this.#waitingSinceMs !== null && nowMs - this.#waitingSinceMs >= MAX_LOGIN_MS
      if (isLate) this.#refuse('away')
    } else if (this.#writer.silentMs >= MAX_SILENCE_MS && this.#target !== null) this.#say(targetLine(this.#target))
  }

  /** Handles the end of the connection. */
  end(): void {
    this.#isOver = true
    this.#line = null
    this.#seat?.release()
    this.#seat = null
  }

  #request(request: Request): void {
    const { id, method } = request
    try {
      this.#handle(request)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      if (method === 'mining.submit') this.#shares.deny(id, this.#first, wrong.parameters)
      else this.#deny(id, method === 'mining.authorize' ? wrong.user : wrong.parameters)
    }
  }

  #handle(request: Request): void {
    const { id, method } = request
    switch (method) {
      case 'mining.subscribe':
        this.#subscribe(id, listParams(request))
        return
      case 'mining.authorize':
        this.#authorize(id, listParams(request))
        return
      case 'mining.submit':
        this.#shares.submit(id, listParams(request), this.#contextOf(listParams(request)))
        return
      case 'mining.extranonce.subscribe':
        this.#changesNonce1 = true
        this.#answer(id, true)
        return
      case 'mining.configure':
        this.#answer(id, {})
        return
      default:
        this.#reply(id, constantReply(method))
    }
  }

  #subscribe(id: MessageId, [agent]: readonly unknown[]): void {
    if (typeof agent === 'string') this.#agent = agent.slice(0, MAX_TEXT)
    this.#changesNonce1 ||= changesNonce1(this.#agent)
    this.#order = orderOf(this.#agent)
    this.#isSubscribed = false
    this.#pendingSubscription = { id }
    this.#writer.hold()
    this.#advance()
  }

  #authorize(id: MessageId, [text]: readonly unknown[]): void {
    if (typeof text !== 'string' || text.length > MAX_TEXT) throw new FormatError('user', 0, 'not a short text')
    if (this.#ports.isBanned(workerKey(difficultyAfterUser(text).user))) {
      this.#deny(id, wrong.banned)
      if (this.#rigs.size === 0) this.#close('worker_banned')
      return
    }
    if (this.#rigs.has(text) || this.#rigs.size + this.#pendingUsers.length >= MAX_USERS) {
      this.#answer(id, true)
      return
    }
    this.#pendingUsers.push({ id, text })
    this.#advance()
  }

  /** Answers requests that waited for a pool session, or requests a session. */
  #advance(): void {
    const line = this.#line
    if (line === null) {
      this.#wait()
      return
    }
    if (this.#pendingSubscription !== null) {
      const { id } = this.#pendingSubscription
      this.#pendingSubscription = null
      this.#isSubscribed = true
      const answer = id === null ? '' : resultLine(id, [null, nonce1For(line, this.#order), line.nonce2Bytes])
      this.#writer.release(answer)
      this.#begin()
    }
    for (const user of this.#pendingUsers.splice(0)) void this.#authorizeAtPool(line, user)
  }

  #wait(): void {
    this.#seat ??= this.#ports.lines.seat()
    if (this.#seat === null) {
      this.#refuse('full')
      return
    }
    if (this.#waitingSinceMs !== null) return
    this.#waitingSinceMs = this.#ports.nowMs()
    this.#seat.request(this.#agent, (line) => this.#attach(line))
  }

  async #authorizeAtPool(line: RigPoolSession, user: { readonly id: MessageId; readonly text: string }): Promise<void> {
    const { id, text } = user
    const worker = workerNameFor(text)
    const isTaken = await line.authorize(line.userOf(worker))
    if (this.#isOver) return
    if (isTaken === null || line !== this.#line) {
      // Ask again in the next session.
      this.#pendingUsers.push(user)
      if (line === this.#line) this.#refuse('away')
      else if (this.#line !== null) this.#advance()
      return
    }
    if (!isTaken) {
      this.#ports.onSentAway('user')
      this.#say(refusalLines([id], 'user'))
      if (this.#rigs.size === 0) this.#close()
      return
    }
    if (!this.#rigs.has(text)) {
      const rig = this.#ports.onUser(difficultyAfterUser(text).user)
      this.#rigs.set(text, { rig: introduce(rig, this.#ports.address, this.#agent), worker })
    }
    this.#answer(id, true)
    this.#recordDifficulty()
    this.#begin()
  }

  /** Begins once the rig has subscribed and authorized, in either order. */
  #begin(): void {
    const line = this.#line
    if (this.#isReady || !this.#isSubscribed || this.#rigs.size === 0 || line === null) return
    this.#isReady = true
    this.#startPassing(line, '')
  }

  /** Attaches a pool session: the first, or a replacement. */
  #attach(line: RigPoolSession): void {
    this.#waitingSinceMs = null
    const refusal = nonceRefusal(line.nonce1, line.nonce2Bytes)
    if (refusal !== null) {
      this.#seat?.drop(line)
      this.#refuse(refusal)
      return
    }
    if (this.#line !== null) this.#detach(this.#line)
    this.#line = line
    line.listen({
      onJob: (job) => this.#passJob(line, job),
      onTarget: (target) => this.#passTarget(line, target),
      onNonces: () => this.#applyNonces(line),
      onMessage: (text) => this.#isReady && this.show(text),
      onLeaving: () => this.#leave(line),
      onEnd: () => this.#loseSession(line),
    })
    if (this.#isReady) void this.#rejoin(line)
    else if (this.#isSubscribed) this.#say(nonceLine(line, this.#order))
    this.#advance()
  }

  /** Authorizes the known users in the new session, and continues there with one write. */
  async #rejoin(line: RigPoolSession): Promise<void> {
    const users = [...this.#rigs.values()].map(({ worker }) => line.userOf(worker))
    const taken = await Promise.all(users.map((user) => line.authorize(user)))
    if (this.#isOver || line !== this.#line) return
    if (taken[0] !== true) {
      this.#refuse('user')
      return
    }
    this.#startPassing(line, nonceLine(line, this.#order))
  }

  #startPassing(line: RigPoolSession, before: string): void {
    this.#isPassing = true
    this.#target = line.target
    const { job } = line
    if (job !== null) this.#shares.jobs.add(job)
    this.#say(before + targetLine(line.target) + (job === null ? '' : jobLine(job)))
    this.#recordDifficulty()
  }

  #passJob(line: RigPoolSession, job: RigPoolJob): void {
    if (line !== this.#line || !this.#isPassing) return
    this.#shares.jobs.add(job)
    this.#say(jobLine(job))
  }

  #passTarget(line: RigPoolSession, target: bigint): void {
    if (line !== this.#line || !this.#isPassing) return
    this.#target = target
    this.#say(targetLine(target))
    this.#recordDifficulty()
  }

  /** Handles a new nonce1 from the pool. */
  #applyNonces(line: RigPoolSession): void {
    if (line !== this.#line || !this.#isSubscribed) return
    const refusal = nonceRefusal(line.nonce1, line.nonce2Bytes)
    if (refusal !== null) this.#refuse(refusal)
    else if (this.#changesNonce1) this.#say(nonceLine(line, this.#order))
    else this.#closeForReconnect()
  }

  /** Handles a switch to another pool. The rig continues here until it has a session there. */
  #leave(line: RigPoolSession): void {
    if (line !== this.#line) return
    if (!this.#isSubscribed || this.#changesNonce1) this.#wait()
    else this.#closeForReconnect()
  }

  #loseSession(line: RigPoolSession): void {
    if (line !== this.#line) return
    this.#detach(line)
    if (!this.#isSubscribed || this.#changesNonce1) this.#wait()
    else this.#closeForReconnect()
  }

  /** Detaches the pool session. Shares of its jobs are stale from now. */
  #detach(line: RigPoolSession): void {
    this.#shares.jobs.endSession(this.#ports.nowMs())
    this.#isPassing = false
    this.#line = null
    this.#seat?.drop(line)
  }

  #closeForReconnect(): void {
    this.#ports.onReconnect()
    this.#close()
  }

  #contextOf([user]: readonly unknown[]): ProxyShareContext {
    const known = (typeof user === 'string' ? this.#rigs.get(user) : undefined) ?? this.#first
    const line = this.#isPassing ? this.#line : null
    return { known, line, isSubscribed: this.#isSubscribed, order: this.#order }
  }

  get #first(): ProxyUser | null {
    const [first = null] = this.#rigs.values()
    return first
  }

  #recordDifficulty(): void {
    if (this.#line === null) return
    const difficulty = Number(difficultyOf(this.#line.target) ?? 0n)
    for (const { rig } of this.#rigs.values()) {
      rig.worker.difficulty = difficulty
      rig.presence.setDifficulty(difficulty)
    }
  }

  /** Refuses the rig: answers all open requests with the reason, and closes. */
  #refuse(why: RefusalName): void {
    const ids = [
      ...(this.#pendingSubscription === null ? [] : [this.#pendingSubscription.id]),
      ...this.#pendingUsers.map(({ id }) => id),
    ]
    this.#pendingSubscription = null
    this.#writer.drop()
    this.#say(refusalLines(ids, why))
    this.#ports.onSentAway(why)
    this.#close()
  }

  /** @param reason null if the rig is counted as refused, or if the pool has ended its session */
  #close(reason: CloseReason | null = null): void {
    this.end()
    this.#ports.close(reason)
  }

  /** Refuses a request, and counts it. */
  #deny(id: MessageId, { reason, failure, text }: Refusal): void {
    this.#ports.onRefused(reason)
    if (id !== null || reason === 'line') this.#say(failureLine(id, failure, text ?? undefined))
  }

  #reply(id: MessageId, reply: ReplyTo): void {
    if ('reason' in reply) this.#deny(id, reply)
    else if (id !== null) this.#say(replyLine(id, reply))
  }

  #answer(id: MessageId, result: unknown): void {
    this.#reply(id, { result })
  }

  #say(text: string): void {
    if (!this.#isOver && text !== '') this.#writer.say(text)
  }
}
