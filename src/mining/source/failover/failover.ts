/**
 * Failover between upstreams in order of priority. A session is work from one upstream, from the switch to it until the
 * switch to another. The old session continues until the new one has a job.
 */
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import type { Job, JobReason, SourceEvents, UpstreamStatus } from '../source.ts'
import { chooseUpstream, type NodeHealth } from './choose.ts'

/** Failover delay of an upstream that gives no work: it has none, owes some, or its requests fail. */
const MAX_JOBLESS_MS = 2_000
/** Failover delay of an upstream without news of its chain. Streams end and reopen all the time. */
const MAX_DEAF_MS = 10_000
/** Pause after an upstream refused this miner. */
const REFUSAL_MS = 600_000

/** Work from one upstream. */
export interface WorkFeed {
  /** As in a source. */
  jobs(signal: AbortSignal, events: SourceEvents): AsyncIterable<Job | null>
  /** Whether news of its work arrives. */
  readonly connected: boolean
  /** Time for which it has owed requested work in milliseconds, or 0 if it owes none. */
  readonly failingMs: number
}

/** A node or pool that gives work. */
export interface Upstream<F extends WorkFeed = WorkFeed> {
  readonly url: string
  /** Counts how often it came up. A session of an earlier epoch may hang or be over. */
  readonly epoch: number
  readonly isUp: boolean
  readonly fitness: NodeHealth
  /** Starts a session. */
  open(): F
  /** Marks it as unfit for this time. With `refusal`, it refuses this miner and gets no requests. */
  markUnfit(why: string, forMs: number, refusal?: NewcutError): void
  /** Clears the mark: it gives work. */
  markFit(): void
  status(isActive: boolean): UpstreamStatus
}

export interface FailoverPolicy {
  /**
   * Time for which an upstream of higher priority must be fit before failback. A failing one is unfit for this long.
   */
  readonly failbackMs: number
  /** Interval at which another upstream is asked while engines have no useful work, or null for never. */
  readonly standInMs: number | null
  /** Whether engines keep old work until there is new work. Otherwise it is dropped when its upstream goes down. */
  readonly keepsOldWork: boolean
}

interface FailoverPorts<U> {
  /** Receives the newest job, or null. `session` counts sessions from 1: job ids are unique only within a session. */
  onJob(job: Job | null, session: number): void
  /** The work now comes from another upstream than before. */
  onSwitched(to: U): void
  /** An upstream refuses this miner. */
  onRefused(): void
  /** Receives an error that no upstream caused. */
  onFault(error: unknown): void
}

interface Session<U, F> {
  readonly number: number
  readonly upstream: U
  /** Epoch of the upstream at the start of the session. */
  readonly epoch: number
  readonly feed: F
  readonly stop: AbortController
  readonly sinceMs: number
  /** Time since which it has no job, or null while it has one. */
  joblessSinceMs: number | null
  /** Time since which no news arrives, or null while it does. */
  deafSinceMs: number | null
  /** Its last report of trouble, or null. */
  trouble: string | null
  /** Whether this session marked its upstream as unfit because it gave no work. */
  isBlamed: boolean
}

export class Failover<U extends Upstream<F>, F extends WorkFeed> {
  readonly #upstreams: readonly U[]
  readonly #policy: FailoverPolicy
  readonly #clock: Clock
  readonly #ports: FailoverPorts<U>
  /** The session that gives the current work. */
  #active: Session<U, F> | null = null
  /**
   * Sessions that are to take over once they have a job. The first is the preferred one, the others are stand-ins. When
   * a stand-in takes over, those before it continue.
   */
  #pending: readonly Session<U, F>[] = []
  #count = 0
  #hasJob = false
  #cancelStandIn: () => void = () => undefined

  /**
   * Requests nothing before `decide` is called.
   * @param upstreams in order of priority
   */
  constructor(upstreams: readonly U[], policy: FailoverPolicy, clock: Clock, ports: FailoverPorts<U>) {
    this.#upstreams = upstreams
    this.#policy = policy
    this.#clock = clock
    this.#ports = ports
  }

  /** The upstream of the current work, or null before the first job. */
  get active(): U | null {
    return this.#active?.upstream ?? null
  }

  /** The feed of the current work, or null before the first job. */
  get feed(): F | null {
    return this.#active?.feed ?? null
  }

  /**
   * Switches to the best upstream, if that is not the current one. Call it when a fitness has changed or time has
   * passed.
   * @returns the best upstream, or null if none can give work
   */
  decide(): U | null {
    if (!this.#policy.keepsOldWork) this.#leaveEnded()
    const preferred = (this.#pending[0] ?? this.#active)?.upstream
    const current = preferred === undefined ? null : this.#upstreams.indexOf(preferred)
    const at = { nowMs: this.#clock.monotonicMs(), failbackMs: this.#policy.failbackMs }
    const fitness = this.#upstreams.map((upstream) => upstream.fitness)
    const index = chooseUpstream(fitness, current, at)
    if (index === null) {
      if (!this.#policy.keepsOldWork && this.#active === null && this.#hasJob) this.#put(0, null, null)
      return null
    }
    const upstream = this.#upstreams[index]
    this.#prefer(upstream)
    return upstream
  }

  /** Marks the preferred upstream as unfit if it answers, but gives no work or no news. */
  judge(): void {
    const nowMs = this.#clock.monotonicMs()
    const session = this.#pending[0] ?? this.#active
    if (session === null) return
    const { upstream, feed, joblessSinceMs, trouble } = session
    // Without a job there is no chain to have news of.
    const isDeaf = joblessSinceMs === null && !feed.connected
    session.deafSinceMs = isDeaf ? (session.deafSinceMs ?? nowMs) : null
    const { deafSinceMs } = session
    const joblessMs = joblessSinceMs === null ? 0 : nowMs - joblessSinceMs
    if (session.isBlamed && joblessMs === 0 && feed.failingMs === 0) {
      session.isBlamed = false
      upstream.markFit()
    }
    const objectionMs = this.#policy.failbackMs
    // The engines' work is an old job meanwhile, which may be useless.
    if (Math.max(joblessMs, feed.failingMs) >= MAX_JOBLESS_MS) {
      session.isBlamed = true
      upstream.markUnfit(trouble === null ? 'gives no work' : `gives no work: ${trouble}`, objectionMs)
    } else if (deafSinceMs !== null && nowMs - deafSinceMs >= MAX_DEAF_MS) {
      upstream.markUnfit('sends no news of its chains', objectionMs)
    }
  }

  stop(): void {
    this.#active?.stop.abort()
    this.#drop(this.#pending)
  }

  /** Leaves sessions whose upstream went down after they started. */
  #leaveEnded(): void {
    const isOver = ({ upstream, epoch }: Session<U, F>) => !upstream.isUp || upstream.epoch !== epoch
    this.#drop(this.#pending.filter(isOver))
    if (this.#active === null || !isOver(this.#active)) return
    this.#active.stop.abort()
    this.#active = null
  }

  /** Makes this the preferred upstream. No-op if it already is. */
  #prefer(upstream: U): void {
    const isOn = (session: Session<U, F> | null | undefined) => {
      return session?.upstream === upstream && session.epoch === upstream.epoch
    }
    if (isOn(this.#pending[0])) return
    if (isOn(this.#active)) {
      // The sessions that were to take over are no longer needed.
      this.#drop(this.#pending)
      return
    }
    const [wanted, ...others] = this.#pending
    const standIn = others.find(isOn)
    this.#drop(wanted === undefined ? [] : [wanted])
    if (standIn === undefined) {
      this.#drop(this.#pending)
      this.#start(upstream)
      this.#standInLater()
    } else this.#pending = [standIn, ...this.#pending.filter((session) => session !== standIn)]
  }

  #drop(sessions: readonly Session<U, F>[]): void {
    for (const { stop } of sessions) stop.abort()
    this.#pending = this.#pending.filter((session) => !sessions.includes(session))
    if (this.#pending.length === 0) this.#cancelStandIn()
  }

  #start(upstream: U): void {
    const nowMs = this.#clock.monotonicMs()
    const session: Session<U, F> = {
      number: ++this.#count,
      upstream,
      epoch: upstream.epoch,
      feed: upstream.open(),
      stop: new AbortController(),
      sinceMs: nowMs,
      joblessSinceMs: nowMs,
      deafSinceMs: null,
      trouble: null,
      isBlamed: false,
    }
    this.#pending = [...this.#pending, session]
    void this.#run(session).catch((error) => this.#ports.onFault(error))
  }

  #standInLater(): void {
    const { standInMs } = this.#policy
    if (standInMs !== null) this.#cancelStandIn = this.#clock.after(standInMs, () => this.#startStandIn())
  }

  /** Asks another upstream too while the preferred one gives no work and the engines have nothing useful. */
  #startStandIn(): void {
    if (this.#pending.length === 0) return
    this.#standInLater()
    const active = this.#active
    const isWorking = active !== null && active.joblessSinceMs === null && active.feed.failingMs < MAX_JOBLESS_MS
    if (isWorking && active.upstream.isUp) return
    const busyUpstreams = new Set([active, ...this.#pending].map((session) => session?.upstream))
    const others = this.#upstreams.filter((upstream) => !busyUpstreams.has(upstream))
    const standIn = others.find(({ fitness }) => fitness.fitSinceMs !== null)
    if (standIn !== undefined) this.#start(standIn)
  }

  async #run(session: Session<U, F>): Promise<void> {
    const events = {
      onTrouble: (message: string) => {
        session.trouble = message
      },
      onRecovered: () => {
        session.trouble = null
      },
    }
    try {
      for await (const job of session.feed.jobs(session.stop.signal, events)) this.#takeJob(session, job)
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      session.upstream.markUnfit(`refuses this miner: ${error.message}`, REFUSAL_MS, error)
      this.#ports.onRefused()
    }
  }

  #takeJob(session: Session<U, F>, job: Job | null): void {
    const isPending = this.#pending.includes(session)
    if (session !== this.#active && !isPending) return
    if (job === null) session.joblessSinceMs ??= this.#clock.monotonicMs()
    else {
      session.joblessSinceMs = null
      session.upstream.markFit()
    }
    if (!isPending) this.#put(session.number, job, job?.reason ?? null)
    else if (job !== null) this.#takeOver(session, job)
  }

  #takeOver(session: Session<U, F>, job: Job): void {
    const before = this.#active
    before?.stop.abort()
    this.#active = session
    const preferred = this.#pending.slice(0, this.#pending.indexOf(session))
    this.#drop(this.#pending.filter((other) => other !== session && !preferred.includes(other)))
    this.#pending = preferred
    if (preferred.length === 0) this.#cancelStandIn()
    const { number, sinceMs, upstream } = session
    if (before === null) {
      this.#put(number, job, job.reason)
      return
    }
    const reason = before.upstream === upstream ? 'reconnected' : 'switched'
    if (reason === 'switched') this.#ports.onSwitched(upstream)
    this.#put(number, { ...job, noticedAtMs: sinceMs }, reason)
  }

  #put(session: number, job: Job | null, reason: JobReason | null): void {
    this.#hasJob = job !== null
    this.#ports.onJob(job && reason && { ...job, reason }, session)
  }
}
