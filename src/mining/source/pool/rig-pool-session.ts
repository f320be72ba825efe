/**
 * A pool session for one rig. It passes nonces, targets and work on as the pool sent them, and shares as the rig sent
 * them.
 */
import type { Clock } from '#ground/base/clock.ts'
import type { NewcutError } from '#ground/base/errors.ts'
import type { Receipt } from '#ground/chain/solution.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { ForwardedAnswer, RigPoolJob, RigPoolListener, RigPoolSession } from '../../stratum/passthrough.ts'
import { accountOf, type PoolAddress } from './address.ts'
import type { PoolTrust } from './connection.ts'
import { receiptOf } from './receipt.ts'
import { type PoolNews, type PoolRedirection, PoolSession } from './session.ts'

interface RigPoolSessionOptions {
  readonly address: PoolAddress
  /** The configured address. */
  readonly home: PoolAddress
  readonly trust: PoolTrust
  /** Agent name of the miner, perhaps with the program of a rig. */
  readonly agent: string
  readonly clock: Clock
  /** Length of the work that rigs support. */
  readonly workBytes: number
  /** Called when it is logged in and has a job. */
  readonly onReady: (line: OpenRigPoolSession) => void
  /** Called once when the session ends, but not after close(). */
  readonly onEnd: (line: OpenRigPoolSession, reason: NewcutError, move: PoolRedirection | null) => void
}

/** Maximum number of jobs whose shares are passed on, which bounds the memory: half an hour of a network with 20 chains. */
const MAX_JOBS = 1024

export class OpenRigPoolSession implements RigPoolSession {
  readonly #options: RigPoolSessionOptions
  readonly #session: PoolSession
  /** Job id as a rig sends it -> job. */
  readonly #jobs = new Map<string, RigPoolJob>()
  #nonce1 = ''
  #nonce2Bytes = 0
  #target: bigint | null = null
  #job: RigPoolJob | null = null
  #readyAtMs: number | null = null
  #listener: RigPoolListener | null = null
  #isUsed = false

  constructor(options: RigPoolSessionOptions) {
    this.#options = options
    const { address, home, trust, agent, clock } = options
    this.#session = new PoolSession({
      address,
      home,
      trust,
      agent,
      clock,
      handlers: {
        onNews: (news) => this.#take(news),
        onJob: () => this.#ready(),
        onMessage: (text) => this.#listener?.onMessage(text),
        onEnd: (reason, move) => {
          options.onEnd(this, reason, move)
          this.#listener?.onEnd()
        },
      },
    })
  }

  /** The configured address. The same object means the same pool. */
  get home(): PoolAddress {
    return this.#options.home
  }

  /** Whether the pool knows a user of a rig. */
  get isUsed(): boolean {
    return this.#isUsed
  }

  /** Time since its first job in milliseconds, or 0 without one. */
  get readyMs(): number {
    return this.#readyAtMs === null ? 0 : this.#options.clock.monotonicMs() - this.#readyAtMs
  }

  get nonce1(): string {
    return this.#nonce1
  }

  get nonce2Bytes(): number {
    return this.#nonce2Bytes
  }

  get target(): bigint {
    return this.#target ?? this.#job?.work.fields.target ?? 0n
  }

  get job(): RigPoolJob | null {
    return this.#job
  }

  jobOf(id: string): RigPoolJob | null {
    return this.#jobs.get(id) ?? null
  }

  listen(listener: RigPoolListener): void {
    this.#listener = listener
  }

  /** Detaches its rig, which is gone. */
  detach(): void {
    this.#listener = null
  }

  /** Informs its rig that work now comes from another pool. */
  leave(): void {
    this.#listener?.onLeaving()
  }

  userOf(worker: string | null): string {
    const { user } = this.#options.address
    return worker === null ? user : `${accountOf(user)}.${worker}`
  }

  async authorize(user: string): Promise<boolean | null> {
    const { address } = this.#options
    this.#isUsed = true
    if (user === address.user) return true
    const answer = await this.#session.ask('mining.authorize', [user, address.password])
    if (typeof answer === 'string') return null
    return answer.error === null && answer.result !== false && answer.result !== null
  }

  async submit(user: string, id: string, nonce2: string): Promise<ForwardedAnswer> {
    const job = this.#jobs.get(id)
    const answer = job === undefined ? '' : await this.#session.ask('mining.submit', [user, job.params[0], nonce2])
    if (job === undefined || typeof answer === 'string') return { verdict: 'stale', hashes: 0, said: null }
    const verdict = verdictOf(receiptOf(answer))
    // The pool may credit either target; the easier one is a safe lower bound.
    const easier = job.target > this.target ? job.target : this.target
    return { verdict, hashes: verdict === 'accepted' ? Number(difficultyOf(easier) ?? 0n) : 0, said: answer }
  }

  /** Closes the session. Nothing is called afterwards. */
  close(): void {
    this.#listener = null
    this.#session.close()
  }

  #take(news: PoolNews): void {
    if (news.kind === 'nonces') {
      const { nonce1, nonce2Bytes } = news
      this.#nonce1 = nonce1
      this.#nonce2Bytes = nonce2Bytes
      this.#listener?.onNonces(nonce1, nonce2Bytes)
    } else if (news.kind === 'target') {
      this.#target = news.target
      this.#listener?.onTarget(news.target)
    } else this.#takeJob(news)
  }

  #takeJob({ params, work }: Extract<PoolNews, { readonly kind: 'job' }>): void {
    const { workBytes } = this.#options
    // A longer header overruns the memory of some rigs.
    if (work.bytes.length !== workBytes) {
      this.#session.refuse(`it gives work of ${work.bytes.length} bytes, and rigs know ${workBytes} only`)
      return
    }
    const job = { params, work, target: this.#target ?? work.fields.target }
    this.#job = job
    this.#jobs.set(String(params[0]), job)
    const [oldest] = this.#jobs.keys()
    if (this.#jobs.size > MAX_JOBS) this.#jobs.delete(oldest)
    this.#listener?.onJob(job)
  }

  #ready(): void {
    if (this.#readyAtMs !== null) return
    this.#readyAtMs = this.#options.clock.monotonicMs()
    this.#options.onReady(this)
  }
}

/** The verdict under which a rig's share is counted. */
function verdictOf(receipt: Receipt): ShareVerdict {
  if (receipt.step === 'acknowledged') return 'accepted'
  // A refused share has a reason.
  if (!('reason' in receipt)) return 'stale'
  switch (receipt.reason) {
    case 'duplicate':
    case 'unauthorized':
      return receipt.reason
    case 'low-difficulty':
      return 'low'
    default:
      return 'malformed'
  }
}
