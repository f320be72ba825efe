/**
 * Shares for pools with failover: newcut searches the work of the first pool that gives any, and fails back to a pool
 * of higher priority. A share belongs to the session that gave its job.
 */

import { readU64LE } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { untilAborted } from '#ground/base/signals.ts'
import { sameParents, workLayout } from '#ground/chain/header.ts'
import type { FollowUp, Receipt } from '#ground/chain/solution.ts'
import { Failover, type WorkFeed } from '../failover/failover.ts'
import { Mailbox } from '../mailbox.ts'
import type { Job, JobReason, Solution, Source, SourceEvents, UpstreamStatus } from '../source.ts'
import type { PoolAddress } from './address.ts'
import type { PoolTrust } from './connection.ts'
import { PoolUpstream } from './pool-upstream.ts'
import type { PoolJob, PoolSession } from './session.ts'

interface PoolOptions {
  /** In order of priority, at least one. */
  readonly pools: readonly PoolAddress[]
  readonly trust: PoolTrust
  /** Agent name of the miner, such as `newcut/0.1.0`. */
  readonly agent: string
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of pauses. */
  readonly random: () => number
  /** Time for which a pool of higher priority must give work before failback. */
  readonly failbackMs: number
}

/** Maximum number of jobs whose shares may still arrive, which bounds the memory. Devices switch within a second. */
const MAX_JOBS = 64

interface IssuedPoolJob {
  readonly session: PoolSession
  readonly job: PoolJob
}

export class PoolSource implements Source {
  readonly waitReason = null
  readonly description: string
  readonly #clock: Clock
  readonly #upstreams: readonly PoolUpstream[]
  readonly #failover: Failover<PoolUpstream, WorkFeed>
  readonly #newest = new Mailbox<Job | null>()
  readonly #stopped = new AbortController()
  /** Our job id -> the pool's session and job. */
  readonly #issued = new Map<string, IssuedPoolJob>()
  #events: SourceEvents = { onTrouble: () => undefined, onRecovered: () => undefined }
  #workBytes: number | null = null
  readonly #hasWork: Promise<void>
  #gotWork: () => void = () => undefined
  #isTroubled = false
  #jobs = 0
  /** The newest issued job. */
  #searched: PoolJob | null = null
  /** The pool of the last searched work. */
  #chosen: PoolAddress | null = null
  #wasAway = false
  readonly #listeners = new Set<(pool: PoolAddress) => void>()

  private constructor(options: PoolOptions) {
    const { pools, clock, failbackMs } = options
    this.#clock = clock
    this.#upstreams = pools.map((address) => this.#upstreamAt(address, options))
    // Each pool always has a session, so no stand-in is needed, and no work outlives its session.
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
   * Connects to all pools, and resolves as soon as one gives work.
   * @param onWaiting called once with the reason for waiting
   * @throws the reason of the signal
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
    await Promise.race([source.#hasWork, untilAborted(signal)])
    if (!signal.aborted) return source
    source.close()
    throw signal.reason
  }

  /** The pool of the current work, or of the last work before an outage, or null. */
  get chosen(): PoolAddress | null {
    return this.#chosen
  }

  /**
   * Calls `listener` when another pool's work is searched, or the same pool is back.
   * @returns a function that ends this
   */
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

  forkVote(): null {
    return null
  }

  /** Always null: pools accept only the creation time of their job. */
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

  async submit({ job, bytes }: Solution): Promise<Receipt> {
    const issued = this.#issued.get(job.id)
    if (issued === undefined)
      return { step: 'lost', reason: 'unreachable', message: 'the session of its job has ended' }
    return issued.session.submit(issued.job, readU64LE(bytes, workLayout(bytes).nonce))
  }

  /** An accepted share counts at once; the pool itself follows its blocks. */
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
      onEnded: (upstream, session, problem) => this.#handleEnd(upstream, session, problem),
    })
  }

  /** Issues a job for work of a pool, and routes its shares to the session. */
  #issue({ url }: PoolUpstream, issued: IssuedPoolJob, isFirst: boolean): Job {
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

  #handleEnd(upstream: PoolUpstream, ended: PoolSession, problem: string): void {
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

/** Why a job is new. New work of one chain does not end the work of others. */
function reasonFor(before: PoolJob | null, { work: { fields } }: PoolJob): JobReason {
  if (before !== null && before.work.fields.chainId !== fields.chainId) return 'chosen'
  return before !== null && sameParents(before.work.fields, fields) ? 'refreshed' : 'newCut'
}
