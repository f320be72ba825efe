/**
 * Tells miners that the work of a chain has other transactions (PROTOCOL.md A.3, `Refreshed Block`). This happens at
 * most once per interval and chain, and only if the next block has really changed.
 */
import type { Clock } from '#ground/base/clock.ts'
import { sameTransactions } from '../mempool/mempool.ts'
import type { Mempools } from '../mempool/mempools.ts'
import type { Transaction } from '../mempool/transaction.ts'

interface RefreshesOptions {
  readonly pools: Mempools
  /** Least time between two events of a chain. */
  readonly intervalMs: number
  readonly clock: Clock
  /** Whether the blocks built ahead have news for their miners; null if there are none. */
  readonly hasNews: (chain: number) => boolean | null
  readonly announce: (chain: number) => void
}

interface Announcement {
  readonly block: readonly Transaction[]
  readonly atMs: number
}

export class RefreshScheduler {
  readonly #options: RefreshesOptions
  /** Chain -> the block last announced to its miners, and when. */
  readonly #announced = new Map<number, Announcement>()
  /** Chain -> cancels its timer. */
  readonly #timers = new Map<number, () => void>()

  constructor(options: RefreshesOptions) {
    this.#options = options
  }

  /** Call it with each `New Cut` of a chain: its miners fetch work with everything that is pending now. */
  restart(chain: number): void {
    this.#timers.get(chain)?.()
    this.#timers.delete(chain)
    const { pools, clock } = this.#options
    this.#announced.set(chain, { block: pools.poolOf(chain).nextBlock, atMs: clock.monotonicMs() })
  }

  /** Call it when the next block of a chain may have changed. */
  plan(chain: number): void {
    if (this.#timers.has(chain)) return
    const lastMs = this.#announced.get(chain)?.atMs ?? Number.NEGATIVE_INFINITY
    const { intervalMs, clock } = this.#options
    const delayMs = Math.max(0, lastMs + intervalMs - clock.monotonicMs())
    this.#timers.set(
      chain,
      clock.after(delayMs, () => this.#refresh(chain)),
    )
  }

  /** Cancels all planned events. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }

  #refresh(chain: number): void {
    this.#timers.delete(chain)
    const { pools, clock, hasNews, announce } = this.#options
    const block = pools.poolOf(chain).nextBlock
    const isNews = hasNews(chain) ?? !sameTransactions(block, this.#announced.get(chain)?.block ?? [])
    if (!isNews) return
    this.#announced.set(chain, { block, atMs: clock.monotonicMs() })
    announce(chain)
  }
}
