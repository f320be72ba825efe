/** One of several pools. It always has a session, or a pause before the next, whichever pool is active. */
import { backoffMs } from '#ground/base/backoff.ts'
import { type Clock, notBefore, sleep } from '#ground/base/clock.ts'
import { describeError, type NewcutError } from '#ground/base/errors.ts'
import type { NodeHealth } from '../failover/choose.ts'
import type { Upstream, WorkFeed } from '../failover/failover.ts'
import { Mailbox } from '../mailbox.ts'
import type { Job, UpstreamStatus } from '../source.ts'
import type { PoolAddress } from './address.ts'
import type { PoolTrust } from './connection.ts'
import { type PoolJob, type PoolRedirection, PoolSession } from './session.ts'

/** First and longest pause between sessions with a pool that fails. */
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 15_000
/** A session of this duration resets the pause. */
const GOOD_MS = 60_000

interface PoolUpstreamOptions {
  readonly trust: PoolTrust
  /** Agent name of the miner, such as `newcut/0.1.0`. */
  readonly agent: string
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of pauses. */
  readonly random: () => number
  /** `onChange` is called again when it has given work for this time. */
  readonly failbackMs: number
  /** Ends its sessions. */
  readonly stopped: AbortSignal
  /** @returns why this work is not usable, or null if it is */
  readonly objection: (job: PoolJob) => string | null
  /** Issues the job of the miner. `isFirst`: the first job of its feed. */
  readonly issue: (upstream: PoolUpstream, session: PoolSession, job: PoolJob, isFirst: boolean) => Job
  /** Called when it starts to give work, and when it is due for failback. */
  readonly onChange: () => void
  /** A message of the pool for people. `isComplaint`: the miner declines a request of the pool. */
  readonly onMessage: (text: string, isComplaint: boolean) => void
  /** Called when a session has ended; the next one follows after a pause. */
  readonly onEnded: (upstream: PoolUpstream, session: PoolSession, problem: string) => void
}

export class PoolUpstream implements Upstream {
  epoch = 0
  readonly #address: PoolAddress
  readonly #options: PoolUpstreamOptions
  /** The newest session, which may have ended. */
  #session: PoolSession | null = null
  /** Address to which it redirected its miners, or null for its own. */
  #move: PoolRedirection | null = null
  /** Set while it gives work. */
  #work: { readonly session: PoolSession; readonly newest: PoolJob; readonly sinceMs: number } | null = null
  #feed: PoolFeed | null = null
  #problem: string | null = null
  #attempts = 0
  /** Ends the wait for the end of its session. */
  #leave: () => void = () => undefined
  #cancelFailback: () => void = () => undefined

  constructor(address: PoolAddress, options: PoolUpstreamOptions) {
    this.#address = address
    this.#options = options
  }

  get url(): string {
    return this.#address.url
  }

  /** The configured address. */
  get address(): PoolAddress {
    return this.#address
  }

  get isUp(): boolean {
    return this.#work !== null
  }

  get fitness(): NodeHealth {
    return { isUp: this.isUp, fitSinceMs: this.#work?.sinceMs ?? null }
  }

  open(): PoolFeed {
    const feed = new PoolFeed()
    this.#feed = feed
    if (this.#work !== null) {
      const { session, newest } = this.#work
      feed.put(this.#options.issue(this, session, newest, true))
    }
    return feed
  }

  markUnfit(): void {
    // A pool that is up gives work. Its sessions report their end themselves.
  }

  markFit(): void {
    // See object().
  }

  status(isActive: boolean): UpstreamStatus {
    return {
      url: this.url,
      up: this.isUp,
      active: isActive,
      lag: null,
      latencyMs: this.#session?.latencyMs ?? null,
      height: null,
      version: null,
      problem: this.#problem,
    }
  }

  /** Runs sessions, one after the other, until it is stopped. */
  async run(): Promise<void> {
    const { clock, random, stopped } = this.#options
    while (!stopped.aborted) {
      const startMs = clock.monotonicMs()
      await this.#runSession()
      if (clock.monotonicMs() - startMs >= GOOD_MS) this.#attempts = 0
      const pauseMs = backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS, jitter: 0.5 }, this.#attempts++, random)
      await sleep(clock, Math.max(pauseMs, this.#move?.waitMs ?? 0), stopped)
    }
  }

  /** Ends the session. Call it after `stopped` has aborted. */
  close(): void {
    this.#session?.close()
    this.#leave()
    this.#cancelFailback()
  }

  /** Resolves when the session has ended. */
  #runSession(): Promise<void> {
    const { trust, agent, clock, onMessage } = this.#options
    const home = this.#address
    return new Promise((resolve) => {
      this.#leave = resolve
      const session = new PoolSession({
        address: this.#move?.address ?? home,
        home,
        trust,
        agent,
        clock,
        handlers: {
          onJob: (job) => this.#takeJob(session, job),
          onMessage: (text, isComplaint) => onMessage(`pool ${home.url}: ${text}`, isComplaint),
          onEnd: (reason, next) => {
            // If an address after a redirection fails too, the next session uses the configured address.
            this.#move = next
            this.#handleEnd(session, reason)
            resolve()
          },
        },
      })
      this.#session = session
    })
  }

  #takeJob(session: PoolSession, newest: PoolJob): void {
    const { clock, failbackMs, objection, issue, onChange } = this.#options
    this.#problem = objection(newest)
    if (this.#problem !== null) return
    const wasUp = this.isUp
    this.#work = { session, newest, sinceMs: this.#work?.sinceMs ?? clock.monotonicMs() }
    this.#feed?.put(issue(this, session, newest, false))
    if (wasUp) return
    this.epoch++
    this.#cancelFailback = notBefore(clock, this.#work.sinceMs + failbackMs, onChange)
    onChange()
  }

  #handleEnd(session: PoolSession, reason: NewcutError): void {
    this.#problem = describeError(reason)
    this.#work = null
    this.#feed = null
    this.#cancelFailback()
    this.#options.onEnded(this, session, this.#problem)
  }
}

/** Work of a pool for one session. */
class PoolFeed implements WorkFeed {
  readonly connected = true
  readonly failingMs = 0
  readonly #newest = new Mailbox<Job | null>()

  put(job: Job): void {
    this.#newest.put(job)
  }

  jobs(signal: AbortSignal): AsyncIterable<Job | null> {
    return this.#newest.until(signal, () => this.#newest.close())
  }
}
