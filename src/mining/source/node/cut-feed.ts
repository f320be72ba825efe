/**
 * Polls the heads of a node's chains at a steady pace, and soon after news. Update streams are faster, but one may be
 * silent without being broken, and engines would keep searching dead work.
 */

import { NodeRefusal } from '#client/node/errors.ts'
import { NewcutError } from '#ground/base/errors.ts'
import type { NodeCalls } from './calls.ts'
import type { CutHeads, MiningNode } from './mining-node.ts'

/** Pause between an answer and the next poll. */
const PACE_MS = 1_000
/** The same while the node does not answer, or its news of the searched chain does not arrive. */
const HURRIED_PACE_MS = 500
/** Minimum interval between polls after news, which limits polling on networks with faster blocks. */
const MIN_INTERVAL_MS = 200
/** A node that takes longer to answer may have been away. */
const LATE_MS = 1_000

/** A cut, with the monotonic times of the request and of the answer. */
export interface PolledCut {
  readonly heads: CutHeads
  readonly askedAtMs: number
  readonly atMs: number
}

interface CutFeedOptions {
  readonly node: Pick<MiningNode, 'cut'>
  readonly calls: NodeCalls
  /** Called when the node answers after a second or more without an answer. `wasAway`: even a whole question failed. */
  readonly onBack: (wasAway: boolean) => void
  /** Whether to poll more often. */
  readonly isHurried: () => boolean
  /** Called with an error that the node did not cause. */
  readonly onFault: (error: unknown) => void
}

export class CutFeed {
  readonly #options: CutFeedOptions
  readonly #listeners = new Set<(cut: PolledCut | null) => void>()
  readonly #stopped = new AbortController()
  #isStarted = false
  #isAsking = false
  #isAway = false
  #hasNews = false
  #askedAtMs = Number.NEGATIVE_INFINITY
  /** Monotonic time before which the node, or a proxy in front of it, wants no poll. */
  #notBeforeMs = Number.NEGATIVE_INFINITY
  /** Monotonic time of the first sign that the node is gone, or null if it has answered after that. */
  #silentSinceMs: number | null = null
  #cancelTimer: () => void = () => undefined

  constructor(options: CutFeedOptions) {
    this.#options = options
  }

  /** Starts polling. Outages are reported by the requests for work, not here. */
  start(): void {
    this.#isStarted = true
    this.#schedule()
  }

  stop(): void {
    this.#stopped.abort()
    this.#cancelTimer()
  }

  /**
   * Calls `run` with each cut, and with null after each failed poll.
   * @returns a function that ends this
   */
  listen(run: (cut: PolledCut | null) => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  /** Polls as soon as the minimum interval allows: at the start, and when a chain has advanced. */
  hurry(): void {
    this.#hasNews = true
    if (this.#isStarted && !this.#isAsking) this.#schedule()
  }

  /** Time since the first unanswered poll or sign of an outage in milliseconds, or 0 if the last poll was answered. */
  get silentMs(): number {
    return this.#silentSinceMs === null ? 0 : this.#options.calls.clock.monotonicMs() - this.#silentSinceMs
  }

  /** Records a sign that the node is gone. It counts as silent until it answers a poll. */
  suspect(): void {
    this.#silentSinceMs ??= this.#options.calls.clock.monotonicMs()
  }

  #schedule(): void {
    if (this.#stopped.signal.aborted) return
    const { calls, isHurried, onFault } = this.#options
    const paceMs = this.#isAway || isHurried() ? HURRIED_PACE_MS : PACE_MS
    const nowMs = calls.clock.monotonicMs()
    const delayMs = this.#hasNews ? this.#askedAtMs + MIN_INTERVAL_MS - nowMs : paceMs
    this.#cancelTimer()
    this.#cancelTimer = calls.clock.after(
      Math.max(0, delayMs, this.#notBeforeMs - nowMs),
      () => void this.#ask().catch(onFault),
    )
  }

  async #ask(): Promise<void> {
    const { node, calls, onBack } = this.#options
    const { signal } = this.#stopped
    const askedAtMs = calls.clock.monotonicMs()
    this.#askedAtMs = askedAtMs
    this.#silentSinceMs ??= askedAtMs
    this.#hasNews = false
    this.#isAsking = true
    try {
      const heads = await calls.ask('cut', (each) => node.cut(each), signal)
      if (signal.aborted) return
      const wasAway = this.#isAway
      this.#isAway = false
      this.#silentSinceMs = null
      const atMs = calls.clock.monotonicMs()
      this.#notify({ heads, askedAtMs, atMs })
      if (wasAway || atMs - askedAtMs >= LATE_MS) onBack(wasAway)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof NewcutError)) throw error
      if (error instanceof NodeRefusal) this.#notBeforeMs = calls.clock.monotonicMs() + (error.retryAfterMs ?? 0)
      this.#isAway = true
      this.#notify(null)
    } finally {
      this.#isAsking = false
    }
    this.#schedule()
  }

  #notify(cut: PolledCut | null): void {
    for (const run of [...this.#listeners]) run(cut)
  }
}
