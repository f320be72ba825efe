/** Questions of a miner to one node. Each is hedged, and its timeout adapts to the node. */
import type { Clock } from '#ground/base/clock.ts'
import { AdaptiveTimeout } from './adaptive-timeout.ts'
import { HEDGE_MS, sendHedged } from './hedged.ts'
import { Wakeups } from './wakeups.ts'

interface CallPolicy {
  /** Text for errors. Questions with the same text share a timeout. */
  readonly what: string
  /** Interval between requests while none is answered. */
  readonly everyMs: number
  /** Whether to resend it at once when the node is back. */
  readonly isUrgent: boolean
}

const policies = {
  work: { what: 'a request for work', everyMs: HEDGE_MS, isUrgent: true },
  submission: { what: 'a submission', everyMs: HEDGE_MS, isUrgent: true },
  block: { what: 'a question about a block', everyMs: HEDGE_MS, isUrgent: true },
  /** A block that its chain lost is not urgent. */
  'lost block': { what: 'a question about a block', everyMs: HEDGE_MS, isUrgent: false },
  chain: { what: 'a question about a chain', everyMs: HEDGE_MS, isUrgent: false },
  cut: { what: 'a request for the cut', everyMs: 500, isUrgent: false },
} as const satisfies Record<string, CallPolicy>

type NodeQuestion = keyof typeof policies

export class NodeCalls {
  readonly clock: Clock
  readonly #timeouts = new AdaptiveTimeout()
  readonly #wakeups = new Wakeups()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /**
   * Sends the request, repeats it while there is no answer, and resolves with the first answer. Rejects with the first
   * failure, with NewcutError NODE_UNREACHABLE after the timeout, or with the reason of the signal.
   */
  ask<T>(question: NodeQuestion, request: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { isUrgent, ...policy } = policies[question]
    const wakeups = isUrgent ? this.#wakeups : undefined
    return sendHedged(request, Object.assign({ clock: this.clock, signal, wakeups, timeouts: this.#timeouts }, policy))
  }

  /**
   * Wakes urgent questions and sleepers, because the node answers again.
   * @param wasAway whether an earlier question got no answer at all
   */
  reportBack(wasAway: boolean): void {
    this.#wakeups.wake(wasAway)
  }

  /** Resolves after the delay, when the node answers again, or when the signal aborts. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    return this.#wakeups.sleep(this.clock, delayMs, signal)
  }
}
