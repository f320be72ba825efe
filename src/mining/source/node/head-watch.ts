/** Reads the heads of a node's chains with each cut, and computes the chances of each chain. */
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import {
  type ChainView,
  type ExpectedRewards,
  expectedRewardsOf,
  type MinableChain,
  minableChainsOf,
} from './choice.ts'
import type { CutFeed, PolledCut } from './cut-feed.ts'
import type { CutHeads } from './mining-node.ts'

/** Timeout of one look, so that a silent node does not hold back the next one. */
const MAX_LOOK_MS = 5_000

interface HeadWatchOptions {
  readonly feed: Pick<CutFeed, 'listen' | 'hurry'>
  /** Reads the headers of a cut. */
  readonly view: (cut: CutHeads, signal: AbortSignal) => Promise<ChainView>
  /** Chains to mine. */
  readonly chains: readonly number[]
  readonly clock: Clock
  /** Receives the chances; empty if the node did not answer. */
  readonly onRewards: (chances: ExpectedRewards) => void
  /** Receives the heads, before the chances computed from them. */
  readonly onView?: (view: ChainView) => void
  /** Called with an error that the node did not cause. */
  readonly onFault: (error: unknown) => void
}

/** Makes one look at a time. Nothing waits for it: chains are chosen by the last look. */
export class HeadWatch {
  readonly #options: HeadWatchOptions
  readonly #stopListening: () => void
  #isStopped = false
  /** Aborts the running look. */
  #looking: AbortController | null = null
  /** A cut that arrived during a look. */
  #next: PolledCut | null = null
  #minable: readonly MinableChain[] = []

  constructor(options: HeadWatchOptions) {
    this.#options = options
    this.#stopListening = options.feed.listen((cut) => this.#takeCut(cut))
  }

  /** Looks as soon as possible: at the start, and when a chain has advanced. */
  lookSoon(): void {
    if (!this.#isStopped) this.#options.feed.hurry()
  }

  stop(): void {
    this.#isStopped = true
    this.#stopListening()
    this.#looking?.abort()
  }

  #takeCut(cut: PolledCut | null): void {
    this.#next = cut
    if (cut === null) this.#options.onRewards(new Map())
    else if (this.#looking === null) void this.#look(cut).catch(this.#options.onFault)
  }

  async #look(cut: PolledCut): Promise<void> {
    const { view, chains, clock, onRewards: onChances, onView } = this.#options
    const looking = new AbortController()
    this.#looking = looking
    this.#next = null
    const cancelTimeout = clock.after(MAX_LOOK_MS, () => looking.abort())
    try {
      const seen = await view(cut.heads, looking.signal)
      if (this.#isStopped) return
      onView?.(seen)
      const nowMs = clock.monotonicMs()
      this.#minable = minableChainsOf(seen, chains, this.#minable, nowMs)
      const blockDelayMs = Number(seen.network.blockDelay) / 1000
      const roundTripMs = cut.atMs - cut.askedAtMs
      onChances(expectedRewardsOf(this.#minable, { chains: seen.cut.size, blockDelayMs, roundTripMs, nowMs }))
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
