/** The money of a miner: prices, earnings, and what the current search is expected to earn and to cost. */
import { expectedReward, publicChainsAt } from '#ground/chain/reward.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import type { Work } from '#ground/chain/work.ts'
import type { Earnings } from './earnings.ts'
import { type MoneyParts, type Payer, type Prices, profitOf, type SearchState, unknownFractions } from './profit.ts'

export interface MoneyOptions {
  readonly payer: Payer
  /** Paid blocks, or null where the chain does not pay this miner. */
  readonly earnings: Earnings | null
  /**
   * Expected reward of a block in coins, by its height and the number of chains; null if it is unknown. Default: the table
   * of core/reward.ts.
   */
  readonly rewardAt?: ((height: bigint, chains: number) => number | null) | undefined
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
  snapshot({ work, chains, hashrate, power }: SearchState): MoneyParts {
    this.#updateExpectation(work, chains)
    const { payer, earnings } = this.#options
    const prices = this.#prices
    const shares = earnings?.lossAndFees() ?? unknownFractions
    const latest = this.#latest
    return {
      ...(latest !== null && { profit: profitOf({ ...latest, hashrate, payer, lossAndFees: shares, power, prices }) }),
      ...(earnings !== null && { earnings: earnings.snapshot(prices.coin) }),
    }
  }

  #updateExpectation(work: Work | null, known: number): void {
    const { rewardAt = expectedReward } = this.#options
    if (work === null) return
    const { target, height, version } = work.fields
    const chains = known > 0 ? known : publicChainsAt(version, height)
    const reward = chains !== null && height > 0n ? rewardAt(height, chains) : null
    // With a pool, the target of the job is that of a share. The header has that of the block.
    if (reward !== null) this.#latest = { difficulty: Number(difficultyOf(target) ?? 0n), reward }
  }
}
