/**
 * Shares for pools: the first of them that gives work has it searched; another takes over while that one is away, and the
 * first takes it back when it is there again. A share belongs to the session that gave its job.
 */

import { readU64LE } from '../../core/bytes.ts'
import type { Clock } from '../../core/clock.ts'
import { sameParents, workLayout } from '../../core/header.ts'
import type { FollowUp, Receipt } from '../../core/solution.ts'
import { Failover, type WorkFeed } from '../failover/failover.ts'
import { Mailbox } from '../mailbox.ts'
import type { Job, JobReason, Solution, Source, SourceEvents, UpstreamStatus } from '../source.ts'
import type { PoolAddress } from './address.ts'
import type { PoolTrust } from './connection.ts'
import { PoolUpstream } from './pool-upstream.ts'
import type { PoolJob, PoolSession } from './session.ts'

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

/** Jobs whose shares may still come in. */
const MAX_JOBS = 64

interface Issued {
  readonly session: PoolSession
  readonly job: PoolJob
}

export class PoolSource implements Source {
  readonly description: string
  readonly #clock: Clock
  readonly #upstreams: readonly PoolUpstream[]
  readonly #failover: Failover<PoolUpstream, WorkFeed>
  readonly #newest = new Mailbox<Job | null>()
  readonly #stopped = new AbortController()
  /** Job id of ours -> what the pool knows. */
  readonly #issued = new Map<string, Issued>()
  #events: SourceEvents = { onTrouble: () => undefined, onRecovered: () => undefined }
  #workBytes: number | null = null
  readonly #hasWork: Promise<void>
  #gotWork: () => void = () => undefined
  #isTroubled = false
  #jobs = 0
  /** The newest job that was issued. */
  #searched: PoolJob | null = null
  /** The pool whose work was searched last. */
  #chosen: PoolAddress | null = null
  #wasAway = false
  readonly #listeners = new Set<(pool: PoolAddress) => void>()

  private constructor(options: PoolOptions) {
    const { pools, clock, failbackMs } = options
    this.#clock = clock
    this.#upstreams = pools.map((address) => this.#upstreamAt(address, options))
    // Each pool has a session all the time: nobody has to stand in, and no work outlives its session.
    const policy = { failbackMs, standInMs: null, keepsOldWork: false }
    this.#failover = new Failover<PoolUpstream, WorkFeed>(this.#upstreams, policy, clock, {
      onJob: (job) => this.#take(job),
      onSwitched: () => undefined,
      onRefused: () => undefined,
      onFault: (error) => {
        this.#newest.close(error)
        this.close()
      },
    })
    this.#hasWork = new Promise((resolve) => {
      this.#gotWork = resolve
    })
    this.description = `shares for ${pools.map(({ url, user }) => `${user} at ${url}`).join(', ')}`
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
    for (const upstream of source.#upstreams) void upstream.run()
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([source.#hasWork, aborted])
    if (!signal.aborted) return source
    source.close()
    throw signal.reason
  }

  /** The pool whose work is searched, or was until it went away; null: none was. */
  get chosen(): PoolAddress | null {
    return this.#chosen
  }

  /** Tells of the pool whose work is searched, whenever that is another one or is back. Returns how to end that. */
  onChosen(listener: (pool: PoolAddress) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get workBytes(): number {
    return this.#workBytes ?? 0
  }

  get connected(): boolean {
    return this.#failover.active !== null
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
    return this.#upstreams.map((upstream) => upstream.status(upstream === this.#failover.active))
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
    this.#failover.stop()
    for (const upstream of this.#upstreams) upstream.close()
  }

  #upstreamAt(address: PoolAddress, options: PoolOptions): PoolUpstream {
    return new PoolUpstream(address, {
      ...options,
      stopped: this.#stopped.signal,
      objection: ({ work: { bytes } }) => {
        this.#workBytes ??= bytes.length
        if (bytes.length === this.#workBytes) return null
        return `it gives work of ${bytes.length} bytes, which is another network`
      },
      issue: (upstream, session, job, isFirst) => this.#issue(upstream, { session, job }, isFirst),
      onChange: () => {
        this.#gotWork()
        this.#failover.decide()
      },
      onMessage: (text, isComplaint) => {
        if (isComplaint) this.#events.onTrouble(text)
        else this.#events.onNotice?.(text)
      },
      onEnded: (upstream, session, problem) => this.#ended(upstream, session, problem),
    })
  }

  /** The job for work of a pool. Its shares go to the session. */
  #issue({ url }: PoolUpstream, issued: Issued, isFirst: boolean): Job {
    const { work, target, nonce1 } = issued.job
    const other = this.#jobs === 0 ? 'start' : 'switched'
    const reason = isFirst ? other : reasonFor(this.#searched, issued.job)
    const id = String(++this.#jobs)
    this.#searched = issued.job
    this.#issued.set(id, issued)
    const [oldest] = this.#issued.keys()
    if (this.#issued.size > MAX_JOBS) this.#issued.delete(oldest)
    const noticedAtMs = this.#clock.monotonicMs()
    return { id, issuer: url, work, target, fixedNonce: nonce1, manySolutions: true, reason, noticedAtMs }
  }

  #take(job: Job | null): void {
    this.#choose(job)
    if (job !== null && this.#isTroubled) {
      this.#isTroubled = false
      this.#events.onRecovered(`pool ${job.issuer} gives work`)
    }
    this.#newest.put(job)
  }

  #choose(job: Job | null): void {
    const active = job === null ? null : (this.#failover.active?.address ?? null)
    const isSame = active === this.#chosen && !this.#wasAway
    this.#wasAway = active === null
    if (active === null || isSame) return
    this.#chosen = active
    for (const listener of this.#listeners) listener(active)
  }

  #ended(upstream: PoolUpstream, ended: PoolSession, problem: string): void {
    for (const [id, { session }] of this.#issued) if (session === ended) this.#issued.delete(id)
    const wasActive = upstream === this.#failover.active
    const next = this.#failover.decide()
    if (wasActive && next !== null) {
      this.#isTroubled = true
      this.#events.onTrouble(`${problem}; ${next.url} has its work searched meanwhile`)
    } else if (next === null && !this.#isTroubled) {
      this.#isTroubled = true
      this.#events.onTrouble(`${problem}; trying again`)
    }
  }
}

/** Work of a pool does not end that of its other chains. */
function reasonFor(before: PoolJob | null, { work: { fields } }: PoolJob): JobReason {
  if (before !== null && before.work.fields.chainId !== fields.chainId) return 'chosen'
  return before !== null && sameParents(before.work.fields, fields) ? 'refreshed' : 'newCut'
}
