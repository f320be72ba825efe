/**
 * Work of one of several upstreams, in order of priority: another takes over when that one fails. A session is work from
 * one upstream, from the switch to it until the switch to another; the old one goes on until the new one has a job.
 */
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import type { Job, JobReason, SourceEvents, UpstreamStatus } from '../source.ts'
import { choose, type Fitness } from './choose.ts'

/** Another one is asked when one has given no work for this long: there is none, or it owes some, or requests fail. */
const MAX_JOBLESS_MS = 2_000
/** And when it has given no news of the chain of its work for this long: streams end and are opened again all the time. */
const MAX_DEAF_MS = 10_000
/** An upstream that refuses this miner is not asked again for this long. */
const REFUSAL_MS = 600_000

/** Work from one upstream. */
export interface WorkFeed {
  /** As that of a source. */
  jobs(signal: AbortSignal, events: SourceEvents): AsyncIterable<Job | null>
  /** Whether news of its work get through. */
  readonly connected: boolean
  /** How long it has given no work that was asked for; 0: it gives some. */
  readonly failingMs: number
}

/** A giver of work: a node or a pool. */
export interface Upstream<F extends WorkFeed = WorkFeed> {
  readonly url: string
  /** Counts how often it came up: a session that began before may hang, or be over. */
  readonly epoch: number
  readonly isUp: boolean
  readonly fitness: Fitness
  /** Work from now on. */
  open(): F
  /** It is not fit for that long. `refusal`: it refuses this miner, so that it is not even asked. */
  object(why: string, forMs: number, refusal?: NewcutError): void
  /** It gives work. */
  works(): void
  status(isActive: boolean): UpstreamStatus
}

export interface FailoverPolicy {
  /** An upstream of higher priority gives work again once it has been fit for this long. One that fails is left alone so long. */
  readonly failbackMs: number
  /** While nothing of use is searched, one more is asked each time that those before have taken this long; null: none is. */
  readonly standInMs: number | null
  /** Whether old work is searched until there is other work; otherwise it is dropped when its upstream goes down. */
  readonly keepsOldWork: boolean
}

export interface FailoverPorts<U> {
  /** The newest job; null: none. `session` counts sessions from 1: the jobs of two may have the same id. */
  onJob(job: Job | null, session: number): void
  /** Work comes from this one now, and came from another one before. */
  onSwitched(to: U): void
  /** One refuses this miner. */
  onRefused(): void
  /** What is no failure of an upstream. */
  onFault(error: unknown): void
}

interface Session<U, F> {
  readonly number: number
  readonly upstream: U
  /** That of the upstream when it began. */
  readonly epoch: number
  readonly feed: F
  readonly stop: AbortController
  readonly sinceMs: number
  /** Since when it has no job; null: it has one. */
  joblessSinceMs: number | null
  /** Since when no news comes; null: it does. */
  deafSinceMs: number | null
  /** What it said of itself last. */
  trouble: string | null
  /** Whether its upstream is objected to since requests for work failed. */
  isBlamed: boolean
}

export class Failover<U extends Upstream<F>, F extends WorkFeed> {
  readonly #upstreams: readonly U[]
  readonly #policy: FailoverPolicy
  readonly #clock: Clock
  readonly #ports: FailoverPorts<U>
  /** Gives the work that is searched. */
  #active: Session<U, F> | null = null
  /**
   * Each takes over once it has a job. The first is the one that is wanted, the others stand in for it; those before the
   * one that has taken over go on.
   */
  #coming: readonly Session<U, F>[] = []
  #count = 0
  #hasJob = false
  #cancelStandIn: () => void = () => undefined

  /** `upstreams`: in order of priority. None is asked before `decide` is called. */
  constructor(upstreams: readonly U[], policy: FailoverPolicy, clock: Clock, ports: FailoverPorts<U>) {
    this.#upstreams = upstreams
    this.#policy = policy
    this.#clock = clock
    this.#ports = ports
  }

  /** The upstream of the work that is searched; null: there is none yet. */
  get active(): U | null {
    return this.#active?.upstream ?? null
  }

  /** What gives the work that is searched; null: nothing yet. */
  get feed(): F | null {
    return this.#active?.feed ?? null
  }

  /**
   * Turns to the upstream that is to give work, as far as is known now. To be called when the fitness of one has changed,
   * or time has made a difference. Returns it; null: none can give work.
   */
  decide(): U | null {
    if (!this.#policy.keepsOldWork) this.#leaveEnded()
    const wanted = (this.#coming[0] ?? this.#active)?.upstream
    const current = wanted === undefined ? null : this.#upstreams.indexOf(wanted)
    const at = { nowMs: this.#clock.monotonicMs(), failbackMs: this.#policy.failbackMs }
    const fitness = this.#upstreams.map((upstream) => upstream.fitness)
    const index = choose(fitness, current, at)
    if (index === null) {
      if (!this.#policy.keepsOldWork && this.#active === null && this.#hasJob) this.#put(0, null, null)
      return null
    }
    const upstream = this.#upstreams[index]
    this.#turnTo(upstream)
    return upstream
  }

  /** An upstream may answer and give no work all the same, or no news: then it is objected to. */
  judge(): void {
    const nowMs = this.#clock.monotonicMs()
    const session = this.#coming[0] ?? this.#active
    if (session === null) return
    const { upstream, feed, joblessSinceMs, trouble } = session
    // While there is no job, no news is wanted.
    const isDeaf = joblessSinceMs === null && !feed.connected
    session.deafSinceMs = isDeaf ? (session.deafSinceMs ?? nowMs) : null
    const { deafSinceMs } = session
    const joblessMs = joblessSinceMs === null ? 0 : nowMs - joblessSinceMs
    if (session.isBlamed && joblessMs === 0 && feed.failingMs === 0) {
      session.isBlamed = false
      upstream.works()
    }
    const objectionMs = this.#policy.failbackMs
    // What is searched meanwhile was given before, and need not be of use any more.
    if (Math.max(joblessMs, feed.failingMs) >= MAX_JOBLESS_MS) {
      session.isBlamed = true
      upstream.object(trouble === null ? 'gives no work' : `gives no work: ${trouble}`, objectionMs)
    } else if (deafSinceMs !== null && nowMs - deafSinceMs >= MAX_DEAF_MS) {
      upstream.object('sends no news of its chains', objectionMs)
    }
  }

  stop(): void {
    this.#active?.stop.abort()
    this.#drop(this.#coming)
  }

  /** Leaves those that went down since they were turned to. */
  #leaveEnded(): void {
    const isOver = ({ upstream, epoch }: Session<U, F>) => !upstream.isUp || upstream.epoch !== epoch
    this.#drop(this.#coming.filter(isOver))
    if (this.#active === null || !isOver(this.#active)) return
    this.#active.stop.abort()
    this.#active = null
  }

  /** Work is to come from this one. Does nothing if it does, or was asked for already. */
  #turnTo(upstream: U): void {
    const isOn = (session: Session<U, F> | null | undefined) => {
      return session?.upstream === upstream && session.epoch === upstream.epoch
    }
    if (isOn(this.#coming[0])) return
    if (isOn(this.#active)) {
      // Those that were to take over will not.
      this.#drop(this.#coming)
      return
    }
    const [wanted, ...others] = this.#coming
    const known = others.find(isOn)
    this.#drop(wanted === undefined ? [] : [wanted])
    if (known === undefined) {
      this.#drop(this.#coming)
      this.#start(upstream)
      this.#standInLater()
    } else this.#coming = [known, ...this.#coming.filter((session) => session !== known)]
  }

  #drop(sessions: readonly Session<U, F>[]): void {
    for (const { stop } of sessions) stop.abort()
    this.#coming = this.#coming.filter((session) => !sessions.includes(session))
    if (this.#coming.length === 0) this.#cancelStandIn()
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
    this.#coming = [...this.#coming, session]
    void this.#run(session).catch((error) => this.#ports.onFault(error))
  }

  #standInLater(): void {
    const { standInMs } = this.#policy
    if (standInMs !== null) this.#cancelStandIn = this.#clock.after(standInMs, () => this.#startStandIn())
  }

  /** The one that is wanted may answer and not give work: another one is asked as well, if there is any hurry. */
  #startStandIn(): void {
    if (this.#coming.length === 0) return
    this.#standInLater()
    const active = this.#active
    const isWorking = active !== null && active.joblessSinceMs === null && active.feed.failingMs < MAX_JOBLESS_MS
    if (isWorking && active.upstream.isUp) return
    const asked = new Set([active, ...this.#coming].map((session) => session?.upstream))
    const others = this.#upstreams.filter((upstream) => !asked.has(upstream))
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
      for await (const job of session.feed.jobs(session.stop.signal, events)) this.#take(session, job)
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      session.upstream.object(`refuses this miner: ${error.message}`, REFUSAL_MS, error)
      this.#ports.onRefused()
    }
  }

  #take(session: Session<U, F>, job: Job | null): void {
    const isComing = this.#coming.includes(session)
    if (session !== this.#active && !isComing) return
    if (job === null) session.joblessSinceMs ??= this.#clock.monotonicMs()
    else {
      session.joblessSinceMs = null
      session.upstream.works()
    }
    if (!isComing) this.#put(session.number, job, job?.reason ?? null)
    else if (job !== null) this.#takeOver(session, job)
  }

  #takeOver(session: Session<U, F>, job: Job): void {
    const before = this.#active
    before?.stop.abort()
    this.#active = session
    const wanted = this.#coming.slice(0, this.#coming.indexOf(session))
    this.#drop(this.#coming.filter((other) => other !== session && !wanted.includes(other)))
    this.#coming = wanted
    if (wanted.length === 0) this.#cancelStandIn()
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
