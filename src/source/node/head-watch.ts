/** Looks at the heads of a node's chains now and then, and after news. */
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import { type ChainView, type Chances, chancesOf, type Prospect, prospectsOf } from './choice.ts'

/** News of chains that nobody follows comes with this delay at most. */
const EVERY_MS = 2_000
/** A network whose blocks come faster is not looked at more often. */
const MIN_INTERVAL_MS = 200
/** A look that takes longer is given up. */
const MAX_LOOK_MS = 5_000

export interface HeadWatchOptions {
  readonly view: (signal: AbortSignal) => Promise<ChainView>
  /** Chains to mine. */
  readonly chains: readonly number[]
  readonly clock: Clock
  /** What was seen; empty: the node did not say. */
  readonly onChances: (chances: Chances) => void
  /** The heads themselves, before the chances that they give. */
  readonly onView?: (view: ChainView) => void
  /** A fault of ours. */
  readonly onFault: (error: unknown) => void
}

/** One look at a time. Never waited for: chains are chosen by what was seen last. */
export class HeadWatch {
  readonly #options: HeadWatchOptions
  #isStopped = false
  /** Ends the look that is under way. */
  #looking: AbortController | null = null
  #hasNews = false
  #prospects: readonly Prospect[] = []
  #lookedAtMs = Number.NEGATIVE_INFINITY
  #cancelTimer: () => void = () => undefined

  constructor(options: HeadWatchOptions) {
    this.#options = options
  }

  /** Looks as soon as it may: at the start, and when a chain has moved on. */
  news(): void {
    this.#hasNews = true
    if (this.#looking === null) this.#plan()
  }

  stop(): void {
    this.#isStopped = true
    this.#looking?.abort()
    this.#cancelTimer()
  }

  #plan(): void {
    if (this.#isStopped) return
    const { clock } = this.#options
    const intervalMs = this.#hasNews ? MIN_INTERVAL_MS : EVERY_MS
    const delayMs = Math.max(0, this.#lookedAtMs + intervalMs - clock.monotonicMs())
    this.#cancelTimer()
    this.#cancelTimer = clock.after(delayMs, () => void this.#look().catch(this.#options.onFault))
  }

  async #look(): Promise<void> {
    const { view, chains, clock, onChances, onView } = this.#options
    const startMs = clock.monotonicMs()
    const looking = new AbortController()
    this.#looking = looking
    this.#hasNews = false
    this.#lookedAtMs = startMs
    const cancelTimeout = clock.after(MAX_LOOK_MS, () => looking.abort())
    try {
      const seen = await view(looking.signal)
      if (this.#isStopped) return
      onView?.(seen)
      const { network, cut, askedMs: roundTripMs } = seen
      const nowMs = clock.monotonicMs()
      this.#prospects = prospectsOf(seen, chains, this.#prospects, nowMs)
      const blockDelayMs = Number(network.blockDelay) / 1000
      onChances(chancesOf(this.#prospects, { chains: cut.size, blockDelayMs, roundTripMs, nowMs }))
    } catch (error) {
      if (this.#isStopped) return
      if (!(error instanceof NewcutError) && !looking.signal.aborted) throw error
      onChances(new Map())
    } finally {
      cancelTimeout()
      this.#looking = null
    }
    this.#plan()
  }
}
