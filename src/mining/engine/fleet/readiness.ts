/**
 * Readiness of a fleet's processes to lead: they need work from a node that answers. All of them announce it, so that a
 * leader without a node knows whether there is a better one.
 */
import { type Clock, sleep } from '#ground/base/clock.ts'
import type { FleetLink } from '../../fleet/link.ts'
import { NodeReport } from '../../fleet/messages.ts'

/** A node that is silent for this time is lost. */
export const LOST_MS = 2_000
/** A lost node counts again after it has answered for this time. */
export const STEADY_MS = 2_000
const ANNOUNCE_MS = 400
/** Validity of an announcement. */
export const ANNOUNCEMENT_MS = 1_300
/** Maximum number of known processes: each start has a session of its own. */
const MAX_OTHERS = 64

interface ReadinessOptions {
  readonly link: FleetLink
  readonly session: string
  readonly clock: Clock
  /** Time without an answer from any node in milliseconds, or 0. */
  readonly silentMs: () => number
  readonly hasWork: () => boolean
  readonly onWrong: (error: unknown) => void
}

export class Readiness {
  readonly #options: ReadinessOptions
  /** Session -> time of its last announcement that it is ready. */
  readonly #others = new Map<string, number>()
  /** When its node was last lost. */
  #lostAtMs = Number.NEGATIVE_INFINITY

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  /** Sends and receives announcements until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { link, session, clock, onWrong } = this.#options
    const { standby } = link.subjects
    const unsubscribe = link.subscribe(standby, NodeReport, (message) => this.#onAnnouncement(message), onWrong)
    while (!signal.aborted) {
      link.publish(standby, { session, isReady: this.isReady } satisfies NodeReport)
      await sleep(clock, ANNOUNCE_MS, signal)
    }
    // So that the next leader does not wait for it.
    link.publish(standby, { session, isReady: false } satisfies NodeReport)
    unsubscribe()
  }

  /** Whether its node does not answer. */
  get isLost(): boolean {
    const isLost = this.#options.silentMs() >= LOST_MS
    if (isLost) this.#lostAtMs = this.#options.clock.monotonicMs()
    return isLost
  }

  get isReady(): boolean {
    const { clock, hasWork } = this.#options
    return !this.isLost && hasWork() && clock.monotonicMs() - this.#lostAtMs >= STEADY_MS
  }

  get isOtherReady(): boolean {
    const sinceMs = this.#options.clock.monotonicMs() - ANNOUNCEMENT_MS
    return [...this.#others.values()].some((saidAtMs) => saidAtMs >= sinceMs)
  }

  #onAnnouncement({ session, isReady }: NodeReport): void {
    if (session === this.#options.session) return
    this.#others.delete(session)
    if (isReady) this.#others.set(session, this.#options.clock.monotonicMs())
    const [oldest] = this.#others.keys()
    if (this.#others.size > MAX_OTHERS) this.#others.delete(oldest)
  }
}
