/** The money of a miner: prices, earnings, and what the present search is expected to earn and to cost. */
import { expectedReward, publicChainsAt } from '../core/reward.ts'
import { difficultyOf } from '../core/target.ts'
import type { Work } from '../core/work.ts'
import type { Earnings } from './earnings.ts'
import { type MoneyParts, noShares, type Payer, type Prices, profitOf, type Searched } from './profit.ts'

export interface MoneyOptions {
  readonly payer: Payer
  /** Paid blocks, or null where the chain does not pay this miner. */
  readonly earnings: Earnings | null
  /** Whether rewards follow the table of core/reward.ts. If not, nothing is expected. Default: true. */
  readonly paysByTable?: boolean | undefined
  /** Default: none. */
  readonly prices?: Prices | undefined
}

export class Money {
  readonly #options: MoneyOptions
  #prices: Prices
  /** Difficulty and reward of the newest work: between two works, the expectation stays. */
  #latest: { readonly difficulty: number; readonly reward: number } | null = null

  constructor(options: MoneyOptions) {
    this.#options = options
    this.#prices = options.prices ?? {}
  }

  setPrices(prices: Prices): void {
    this.#prices = prices
  }

  /** The parts of a snapshot. */
  snapshot({ work, chains, hashrate, power }: Searched): MoneyParts {
    this.#look(work, chains)
    const { payer, earnings } = this.#options
    const prices = this.#prices
    const shares = earnings?.shares() ?? noShares
    const latest = this.#latest
    return {
      ...(latest !== null && { profit: profitOf({ ...latest, hashrate, payer, shares, power, prices }) }),
      ...(earnings !== null && { earnings: earnings.snapshot(prices.coin) }),
    }
  }

  #look(work: Work | null, known: number): void {
    const { paysByTable = true } = this.#options
    if (work === null || !paysByTable) return
    const { target, height, version } = work.fields
    const chains = known > 0 ? known : publicChainsAt(version, height)
    // With a pool, the target of the job is that of a share. The header has that of the block.
    const difficulty = Number(difficultyOf(target) ?? 0n)
    if (chains !== null && height > 0n) this.#latest = { difficulty, reward: expectedReward(height, chains) }
  }
}
