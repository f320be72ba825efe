/**
 * Shares for pools: the first of them that gives work has it searched; another takes over while that one is away, and the
 * first takes it back when it is there again. A share belongs to the session that gave its job.
 */

import { readU64LE } from '../../core/bytes.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError, type NewcutError } from '../../core/errors.ts'
import { sameParents, workLayout } from '../../core/header.ts'
import type { FollowUp, Receipt } from '../../core/solution.ts'
import { Mailbox } from '../mailbox.ts'
import type { Job, JobReason, Solution, Source, SourceEvents, UpstreamStatus } from '../source.ts'
import type { PoolAddress } from './address.ts'
import type { PoolTrust } from './connection.ts'
import { type Move, type PoolJob, PoolSession } from './session.ts'

export interface PoolOptions {
  /** In order of priority; one at least. */
  readonly pools: readonly PoolAddress[]
  readonly trust: PoolTrust
  /** What the miner calls itself, such as `newcut/0.1.0`. */
  readonly agent: string
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of pauses. */
  readonly random: () => number
  /** How long a pool of higher priority has to give work before it has it searched again. */
  readonly failbackMs: number
}

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 15_000
/** A session that lasted for so long was a good one: the pause after it is short again. */
const GOOD_MS = 60_000
/** Jobs whose shares may still come in. */
const MAX_JOBS = 64

/** A pool, and what is known of it. */
interface Member {
  readonly address: PoolAddress
  readonly priority: number
  session: PoolSession | null
  /** Where it sent its miners; null: its own address. */
  move: Move | null
  newest: PoolJob | null
  /** Whether it gives work. */
  isUp: boolean
  /** Ends the wait for the end of its session. */
  leave: () => void
  /** Takes back that it is to have its work searched again. */
  cancelFailBack: () => void
  attempts: number
  problem: string | null
}

interface Issued {
  readonly session: PoolSession
  readonly job: PoolJob
}

export class PoolSource implements Source {
  readonly description: string
  readonly #options: PoolOptions
  readonly #members: readonly Member[]
  readonly #newest = new Mailbox<Job | null>()
  readonly #stopped = new AbortController()
  /** Job id of ours -> what the pool knows. */
  readonly #issued = new Map<string, Issued>()
  #events: SourceEvents = { onTrouble: () => undefined, onRecovered: () => undefined }
  #workBytes: number | null = null
  readonly #hasWork: Promise<void>
  #gotWork: () => void = () => undefined
  #active: Member | null = null
  #isTroubled = false
  #jobs = 0
  #searched: PoolJob | null = null

  private constructor(options: PoolOptions) {
    this.#options = options
    this.#members = options.pools.map((address, priority) => {
      return {
        address,
        priority,
        session: null,
        move: null,
        newest: null,
        isUp: false,
        leave: () => undefined,
        cancelFailBack: () => undefined,
        attempts: 0,
        problem: null,
      }
    })
    this.#hasWork = new Promise((resolve) => {
      this.#gotWork = resolve
    })
    this.description = `shares for ${options.pools.map(({ url, user }) => `${user} at ${url}`).join(', ')}`
  }

  /**
   * Connects to all pools, and resolves as soon as one gives work. `onWaiting` is called with the reason for waiting,
   * once. Throws the signal's reason.
   */
  static async reach(
    options: PoolOptions,
    onWaiting: (message: string) => void,
    signal: AbortSignal,
  ): Promise<PoolSource> {
    signal.throwIfAborted()
    const source = new PoolSource(options)
    source.#events = { ...source.#events, onTrouble: onWaiting }
    for (const member of source.#members) void source.#keep(member)
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([source.#hasWork, aborted])
    if (!signal.aborted) return source
    source.close()
    throw signal.reason
  }

  get workBytes(): number {
    return this.#workBytes ?? 0
  }

  get connected(): boolean {
    return this.#active !== null
  }

  /** Pools take no newer creation time than that of their job. */
  forkVote(): null {
    return null
  }

  validatorTime(): null {
    return null
  }

  chains(): null {
    return null
  }

  upstreams(): readonly UpstreamStatus[] {
    return this.#members.map((member) => ({
      url: member.address.url,
      up: member.isUp,
      active: member === this.#active,
      lag: null,
      latencyMs: member.session?.latencyMs ?? null,
      height: null,
      version: null,
      problem: member.problem,
    }))
  }

  async *jobs(signal: AbortSignal, events: SourceEvents): AsyncGenerator<Job | null, void, void> {
    this.#events = events
    yield* this.#newest.until(signal, () => this.close())
  }

  async handIn({ job, bytes }: Solution): Promise<Receipt> {
    const issued = this.#issued.get(job.id)
    if (issued === undefined)
      return { step: 'lost', reason: 'unreachable', message: 'the session of its job has ended' }
    return issued.session.submit(issued.job, readU64LE(bytes, workLayout(bytes).nonce))
  }

  /** A share that the pool took counts; the pool itself follows its blocks. */
  async *follow(): AsyncGenerator<FollowUp, void, void> {
    yield { step: 'credited' }
  }

  /** Ends all sessions. */
  close(): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    this.#newest.close()
    for (const { session, leave, cancelFailBack } of this.#members) {
      session?.close()
      leave()
      cancelFailBack()
    }
  }

  /** One session after the other, until the source ends. */
  async #keep(member: Member): Promise<void> {
    const { clock, random } = this.#options
    while (!this.#stopped.signal.aborted) {
      const startMs = clock.monotonicMs()
      await this.#session(member)
      if (clock.monotonicMs() - startMs >= GOOD_MS) member.attempts = 0
      const mostMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** member.attempts++)
      const pauseMs = Math.max((0.5 + random() / 2) * mostMs, member.move?.waitMs ?? 0)
      await sleep(clock, pauseMs, this.#stopped.signal)
    }
  }

  /** Resolves when the session has ended. */
  #session(member: Member): Promise<void> {
    const { trust, agent, clock } = this.#options
    const { address: home, move } = member
    return new Promise((resolve) => {
      member.leave = resolve
      const session = new PoolSession({
        ...{ address: move?.address ?? home, home, trust, agent, clock },
        handlers: {
          onJob: (job) => this.#took(member, job),
          onMessage: (text) => this.#events.onTrouble(`pool ${member.address.url}: ${text}`),
          onEnd: (reason, next) => {
            // A place that it sent its miners to may be gone as well: then its own address is tried.
            member.move = next
            this.#ended(member, reason)
            resolve()
          },
        },
      })
      member.session = session
    })
  }

  #took(member: Member, job: PoolJob): void {
    const { clock, failbackMs } = this.#options
    this.#workBytes ??= job.work.bytes.length
    if (job.work.bytes.length !== this.#workBytes) {
      member.problem = `it gives work of ${job.work.bytes.length} bytes, which is another network`
      return
    }
    member.newest = job
    member.problem = null
    if (!member.isUp) {
      member.isUp = true
      member.cancelFailBack = clock.after(failbackMs, () => this.#failBack(member))
    }
    this.#gotWork()
    if (member === this.#active) this.#deliver(member, reasonFor(this.#searched, job))
    else if (this.#active === null) this.#activate(member, this.#jobs === 0 ? 'start' : 'switched')
  }

  /** A pool of higher priority that has given work for long enough has it searched again. */
  #failBack(member: Member): void {
    if (this.#active !== null && member.priority < this.#active.priority) this.#activate(member, 'switched')
  }

  #activate(member: Member, reason: JobReason): void {
    this.#active = member
    if (this.#isTroubled) this.#events.onRecovered(`pool ${member.address.url} gives work`)
    this.#isTroubled = false
    this.#deliver(member, reason)
  }

  #deliver({ address, session, newest }: Member, reason: JobReason): void {
    if (newest === null || session === null) return
    const id = String(++this.#jobs)
    this.#searched = newest
    this.#issued.set(id, { session, job: newest })
    const [oldest] = this.#issued.keys()
    if (this.#issued.size > MAX_JOBS) this.#issued.delete(oldest)
    this.#newest.put({
      ...{ id, issuer: address.url, work: newest.work, target: newest.target, fixedNonce: newest.nonce1 },
      manySolutions: true,
      reason,
      noticedAtMs: this.#options.clock.monotonicMs(),
    })
  }

  #ended(member: Member, reason: NewcutError): void {
    member.problem = describeError(reason)
    member.isUp = false
    member.cancelFailBack()
    member.newest = null
    for (const [id, { session }] of this.#issued) if (session === member.session) this.#issued.delete(id)
    const wasActive = member === this.#active
    if (wasActive) this.#active = null
    const next = this.#members.find(({ newest }) => newest !== null)
    if (wasActive && next !== undefined) {
      this.#events.onTrouble(`${member.problem}; ${next.address.url} has its work searched meanwhile`)
      this.#isTroubled = true
      this.#activate(next, 'switched')
      return
    }
    // Shares for a session that has ended are of no use.
    if (wasActive) this.#newest.put(null)
    if (this.#active === null && !this.#isTroubled) {
      this.#isTroubled = true
      this.#events.onTrouble(`${member.problem}; trying again`)
    }
  }
}

/** Work of a pool does not end that of its other chains. */
function reasonFor(before: PoolJob | null, { work: { fields } }: PoolJob): JobReason {
  if (before !== null && before.work.fields.chainId !== fields.chainId) return 'chosen'
  return before !== null && sameParents(before.work.fields, fields) ? 'refreshed' : 'newCut'
}
