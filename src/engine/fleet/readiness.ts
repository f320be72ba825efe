/**
 * Which processes of a fleet could lead: those that have work of a node that answers. All of them say it to each other,
 * so that a leader without a node knows whether there is a better one.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import type { Link } from '../../fleet/link.ts'
import { NodeReport } from '../../fleet/messages.ts'

/** A node that is silent for so long is lost. */
export const LOST_MS = 2_000
/** One that was lost counts again once it has answered for so long. */
export const STEADY_MS = 2_000
const TELL_MS = 400
/** What was said counts for so long. */
export const HEARD_MS = 1_300
const MAX_OTHERS = 64

export interface ReadinessOptions {
  readonly link: Link
  readonly session: string
  readonly clock: Clock
  /** How long no node answers; 0: one does. */
  readonly silentMs: () => number
  readonly hasWork: () => boolean
  readonly onWrong: (error: unknown) => void
}

export class Readiness {
  readonly #options: ReadinessOptions
  /** Session -> when it said last that it is ready. */
  readonly #others = new Map<string, number>()
  /** When its node was lost last. */
  #lostAtMs = Number.NEGATIVE_INFINITY

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  /** Says and hears it until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { link, session, clock, onWrong } = this.#options
    const { standby } = link.subjects
    const unhear = link.hear(standby, NodeReport, (message) => this.#hear(message), onWrong)
    while (!signal.aborted) {
      link.tell(standby, { session, isReady: this.isReady } satisfies NodeReport)
      await sleep(clock, TELL_MS, signal)
    }
    // The next leader is not to wait for it.
    link.tell(standby, { session, isReady: false } satisfies NodeReport)
    unhear()
  }

  /** Its node does not answer. */
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
    const sinceMs = this.#options.clock.monotonicMs() - HEARD_MS
    return [...this.#others.values()].some((saidAtMs) => saidAtMs >= sinceMs)
  }

  #hear({ session, isReady }: NodeReport): void {
    if (session === this.#options.session) return
    this.#others.delete(session)
    if (isReady) this.#others.set(session, this.#options.clock.monotonicMs())
    const [oldest] = this.#others.keys()
    if (this.#others.size > MAX_OTHERS) this.#others.delete(oldest)
  }
}
