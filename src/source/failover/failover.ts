/**
 * Whose work is searched. A session is work from one node, from the switch to it until the switch to another. The old one
 * goes on until the new one has a job.
 */
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import type { NodeSource } from '../node/node-source.ts'
import type { Member } from '../nodes/node-upstream.ts'
import type { Job, JobReason } from '../source.ts'

/** Another node is asked when one has given no work for this long: there is none, or it owes some, or requests fail. */
const MAX_JOBLESS_MS = 2_000
/** And when it has given no news of the chain of its work for this long: streams end and are opened again all the time. */
const MAX_DEAF_MS = 10_000
/** A node that refuses this miner is not asked again for this long. */
const REFUSAL_MS = 600_000
/** While nothing of use is searched, one node more is asked each time that those before have taken this long. */
const STAND_IN_MS = 500

export interface SessionsOptions {
  readonly clock: Clock
  /** How long a node is left alone that gives no work, or no news. */
  readonly objectionMs: number
  /** A new source of work from this node. */
  readonly sourceFor: (member: Member) => NodeSource
  /** Another node that is fit to give work, beside these; null: there is none. */
  readonly standIn: (but: readonly Member[]) => Member | null
  readonly onJob: (job: Job | null) => void
  /** Work comes from this node now, and came from another one before. */
  readonly onSwitched: (member: Member) => void
  /** A node refuses this miner. */
  readonly onRefused: () => void
  /** What is no failure of a node. */
  readonly onFault: (error: unknown) => void
}

interface Session {
  readonly number: number
  readonly member: Member
  /** That of the member when it began. */
  readonly epoch: number
  readonly source: NodeSource
  readonly stop: AbortController
  readonly sinceMs: number
  /** Since when it has no job; null: it has one. */
  joblessSinceMs: number | null
  /** Since when no news comes; null: it does. */
  deafSinceMs: number | null
  /** What it said of itself last. */
  trouble: string | null
  /** Whether its node is objected to since requests for work failed. */
  isBlamed: boolean
}

export class Sessions {
  readonly #options: SessionsOptions
  /** Gives the work that is searched. */
  #active: Session | null = null
  /**
   * Each takes over once it has a job. The first is the one that is wanted, the others stand in for it; those before the
   * one that has taken over go on.
   */
  #coming: readonly Session[] = []
  #count = 0
  #cancelStandIn: () => void = () => undefined

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** The node of the work that is searched, and its source; null: there is none yet. */
  get member(): Member | null {
    return this.#active?.member ?? null
  }

  get source(): NodeSource | null {
    return this.#active?.source ?? null
  }

  /** The node that is to give work. */
  get wanted(): Member | null {
    return (this.#coming[0] ?? this.#active)?.member ?? null
  }

  /** Work is to come from this node. Does nothing if it does, or was asked for already. */
  turnTo(member: Member): void {
    const isOn = (session: Session | null | undefined) => session?.member === member && session.epoch === member.epoch
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
      this.#start(member)
      this.#standInLater()
    } else this.#coming = [known, ...this.#coming.filter((session) => session !== known)]
  }

  /** A node may answer and give no work all the same, or no news. */
  judge(): void {
    const { clock, objectionMs } = this.#options
    const nowMs = clock.monotonicMs()
    const session = this.#coming[0] ?? this.#active
    if (session === null) return
    const { member, source, joblessSinceMs, trouble } = session
    // While there is no job, no news is wanted.
    const isDeaf = joblessSinceMs === null && !source.connected
    session.deafSinceMs = isDeaf ? (session.deafSinceMs ?? nowMs) : null
    const { deafSinceMs } = session
    const joblessMs = joblessSinceMs === null ? 0 : nowMs - joblessSinceMs
    if (session.isBlamed && joblessMs === 0 && source.failingMs === 0) {
      session.isBlamed = false
      member.works()
    }
    // What is searched meanwhile was given before, and need not be of use any more.
    if (Math.max(joblessMs, source.failingMs) >= MAX_JOBLESS_MS) {
      session.isBlamed = true
      member.object(trouble === null ? 'gives no work' : `gives no work: ${trouble}`, objectionMs)
    } else if (deafSinceMs !== null && nowMs - deafSinceMs >= MAX_DEAF_MS) {
      member.object('sends no news of its chains', objectionMs)
    }
  }

  stop(): void {
    this.#active?.stop.abort()
    this.#drop(this.#coming)
  }

  #drop(sessions: readonly Session[]): void {
    for (const { stop } of sessions) stop.abort()
    this.#coming = this.#coming.filter((session) => !sessions.includes(session))
    if (this.#coming.length === 0) this.#cancelStandIn()
  }

  #start(member: Member): void {
    const nowMs = this.#options.clock.monotonicMs()
    const session: Session = {
      number: ++this.#count,
      member,
      epoch: member.epoch,
      source: this.#options.sourceFor(member),
      stop: new AbortController(),
      sinceMs: nowMs,
      joblessSinceMs: nowMs,
      deafSinceMs: null,
      trouble: null,
      isBlamed: false,
    }
    this.#coming = [...this.#coming, session]
    void this.#run(session).catch(this.#options.onFault)
  }

  #standInLater(): void {
    this.#cancelStandIn = this.#options.clock.after(STAND_IN_MS, () => this.#startStandIn())
  }

  /** The node that is wanted may answer and not give work: another one is asked as well, if there is any hurry. */
  #startStandIn(): void {
    if (this.#coming.length === 0) return
    this.#standInLater()
    const active = this.#active
    const isWorking = active !== null && active.joblessSinceMs === null && active.source.failingMs < MAX_JOBLESS_MS
    if (isWorking && active.member.isUp) return
    const asked = this.#coming.map(({ member }) => member)
    const member = this.#options.standIn(active === null ? asked : [active.member, ...asked])
    if (member !== null) this.#start(member)
  }

  async #run(session: Session): Promise<void> {
    const events = {
      onTrouble: (message: string) => {
        session.trouble = message
      },
      onRecovered: () => {
        session.trouble = null
      },
    }
    try {
      for await (const job of session.source.jobs(session.stop.signal, events)) this.#take(session, job)
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      // The node refuses this miner.
      session.member.object(`refuses this miner: ${error.message}`, REFUSAL_MS, error)
      this.#options.onRefused()
    }
  }

  #take(session: Session, job: Job | null): void {
    const isComing = this.#coming.includes(session)
    if (session !== this.#active && !isComing) return
    if (job === null) session.joblessSinceMs ??= this.#options.clock.monotonicMs()
    else {
      session.joblessSinceMs = null
      session.member.works()
    }
    if (!isComing) this.#put(session, job, job?.reason ?? null)
    else if (job !== null) this.#takeOver(session, job)
  }

  #takeOver(session: Session, job: Job): void {
    const before = this.#active
    before?.stop.abort()
    this.#active = session
    const wanted = this.#coming.slice(0, this.#coming.indexOf(session))
    this.#drop(this.#coming.filter((other) => other !== session && !wanted.includes(other)))
    this.#coming = wanted
    if (wanted.length === 0) this.#cancelStandIn()
    const { sinceMs, member } = session
    if (before === null) {
      this.#put(session, job, job.reason)
      return
    }
    const reason = before.member === member ? 'reconnected' : 'switched'
    if (reason === 'switched') this.#options.onSwitched(member)
    this.#put(session, { ...job, noticedAtMs: sinceMs }, reason)
  }

  #put(session: Session, job: Job | null, reason: JobReason | null): void {
    this.#options.onJob(job && reason && { ...job, reason, id: `${session.number}.${job.id}` })
  }
}
