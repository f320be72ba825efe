/**
 * The heads of a node's chains, asked for at a steady pace, and soon after news. Update streams tell earlier, but one may
 * be silent without being broken, and work that is dead would be searched on.
 */
import { NewcutError } from '../../core/errors.ts'
import type { NodeCalls } from './calls.ts'
import type { CutHeads, MiningNode } from './mining-node.ts'

/** From one answer to the next question. */
const PACE_MS = 1_000
/** The same while the node does not answer, or the news of the searched chain does not get through. */
const HURRIED_PACE_MS = 500
/** From one question to the next after news: a network whose blocks come faster is not looked at more often. */
const MIN_INTERVAL_MS = 200
/** A node that takes longer to answer may have been away. */
const LATE_MS = 1_000

/** A cut, and when it was asked for and known. */
export interface SeenCut {
  readonly heads: CutHeads
  readonly askedAtMs: number
  readonly atMs: number
}

export interface CutFeedOptions {
  readonly node: Pick<MiningNode, 'cut'>
  readonly calls: NodeCalls
  /** The node answers again, after it did not for a second or more. `wasAway`: not even to a whole question. */
  readonly onBack: (wasAway: boolean) => void
  /** Whether to ask more often. */
  readonly isHurried: () => boolean
  /** Called with an error that is no failure of the node. */
  readonly onFault: (error: unknown) => void
}

export class CutFeed {
  readonly #options: CutFeedOptions
  readonly #listeners = new Set<(cut: SeenCut | null) => void>()
  readonly #stopped = new AbortController()
  #isStarted = false
  #isAsking = false
  #isAway = false
  #hasNews = false
  #askedAtMs = Number.NEGATIVE_INFINITY
  /** Since when something speaks for a node that is gone; null: it has answered since. */
  #silentSinceMs: number | null = null
  #cancelTimer: () => void = () => undefined

  constructor(options: CutFeedOptions) {
    this.#options = options
  }

  /** Asks from now on. A node that does not answer is told of by whoever asks it for work. */
  start(): void {
    this.#isStarted = true
    this.#plan()
  }

  stop(): void {
    this.#stopped.abort()
    this.#cancelTimer()
  }

  /** Runs `run` with each cut, and with null when there was no answer, until the returned function is called. */
  listen(run: (cut: SeenCut | null) => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  /** Asks as soon as it may: at the start, and when a chain has moved on. */
  hurry(): void {
    this.#hasNews = true
    if (this.#isStarted && !this.#isAsking) this.#plan()
  }

  /** How long the node has not answered, from the first question or sign; 0: it has answered the last question. */
  get silentMs(): number {
    return this.#silentSinceMs === null ? 0 : this.#options.calls.clock.monotonicMs() - this.#silentSinceMs
  }

  /** A sign that the node is gone: it is silent from now on, unless it answers the next question. */
  suspect(): void {
    this.#silentSinceMs ??= this.#options.calls.clock.monotonicMs()
  }

  #plan(): void {
    if (this.#stopped.signal.aborted) return
    const { calls, isHurried, onFault } = this.#options
    const paceMs = this.#isAway || isHurried() ? HURRIED_PACE_MS : PACE_MS
    const delayMs = this.#hasNews ? this.#askedAtMs + MIN_INTERVAL_MS - calls.clock.monotonicMs() : paceMs
    this.#cancelTimer()
    this.#cancelTimer = calls.clock.after(Math.max(0, delayMs), () => void this.#ask().catch(onFault))
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
      this.#tell({ heads, askedAtMs, atMs })
      if (wasAway || atMs - askedAtMs >= LATE_MS) onBack(wasAway)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof NewcutError)) throw error
      this.#isAway = true
      this.#tell(null)
    } finally {
      this.#isAsking = false
    }
    this.#plan()
  }

  #tell(cut: SeenCut | null): void {
    for (const run of [...this.#listeners]) run(cut)
  }
}
