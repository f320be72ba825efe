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
  readonly tell: (chain: number) => void
}

interface Told {
  readonly block: readonly Transaction[]
  readonly atMs: number
}

export class Refreshes {
  readonly #options: RefreshesOptions
  /** Chain -> the block last announced to its miners, and when. */
  readonly #told = new Map<number, Told>()
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
    this.#told.set(chain, { block: pools.of(chain).nextBlock, atMs: clock.monotonicMs() })
  }

  /** Call it when the next block of a chain may have changed. */
  plan(chain: number): void {
    if (this.#timers.has(chain)) return
    const lastMs = this.#told.get(chain)?.atMs ?? Number.NEGATIVE_INFINITY
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
    const { pools, clock, hasNews, tell } = this.#options
    const block = pools.of(chain).nextBlock
    const isNews = hasNews(chain) ?? !sameTransactions(block, this.#told.get(chain)?.block ?? [])
    if (!isNews) return
    this.#told.set(chain, { block, atMs: clock.monotonicMs() })
    tell(chain)
  }
}
