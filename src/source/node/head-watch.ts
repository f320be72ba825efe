/** Looks at the heads of a node's chains whenever its cut is known, and tells which chain is worth how much. */
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import { type ChainView, type Chances, chancesOf, type Prospect, prospectsOf } from './choice.ts'
import type { CutFeed, SeenCut } from './cut-feed.ts'
import type { CutHeads } from './mining-node.ts'

/** A look that takes longer is given up. */
const MAX_LOOK_MS = 5_000

export interface HeadWatchOptions {
  readonly feed: Pick<CutFeed, 'listen' | 'hurry'>
  /** Reads the headers of a cut. */
  readonly view: (cut: CutHeads, signal: AbortSignal) => Promise<ChainView>
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
  readonly #forget: () => void
  #isStopped = false
  /** Ends the look that is under way. */
  #looking: AbortController | null = null
  /** A cut that came during a look. */
  #next: SeenCut | null = null
  #prospects: readonly Prospect[] = []

  constructor(options: HeadWatchOptions) {
    this.#options = options
    this.#forget = options.feed.listen((cut) => this.#seen(cut))
  }

  /** Looks as soon as it may: at the start, and when a chain has moved on. */
  news(): void {
    if (!this.#isStopped) this.#options.feed.hurry()
  }

  stop(): void {
    this.#isStopped = true
    this.#forget()
    this.#looking?.abort()
  }

  #seen(cut: SeenCut | null): void {
    this.#next = cut
    if (cut === null) this.#options.onChances(new Map())
    else if (this.#looking === null) void this.#look(cut).catch(this.#options.onFault)
  }

  async #look(cut: SeenCut): Promise<void> {
    const { view, chains, clock, onChances, onView } = this.#options
    const looking = new AbortController()
    this.#looking = looking
    this.#next = null
    const cancelTimeout = clock.after(MAX_LOOK_MS, () => looking.abort())
    try {
      const seen = await view(cut.heads, looking.signal)
      if (this.#isStopped) return
      onView?.(seen)
      const nowMs = clock.monotonicMs()
      this.#prospects = prospectsOf(seen, chains, this.#prospects, nowMs)
      const blockDelayMs = Number(seen.network.blockDelay) / 1000
      const roundTripMs = cut.atMs - cut.askedAtMs
      onChances(chancesOf(this.#prospects, { chains: seen.cut.size, blockDelayMs, roundTripMs, nowMs }))
    } catch (error) {
      if (this.#isStopped) return
      if (!(error instanceof NewcutError) && !looking.signal.aborted) throw error
      onChances(new Map())
    } finally {
      cancelTimeout()
      this.#looking = null
    }
    if (this.#next !== null) await this.#look(this.#next)
  }
}
