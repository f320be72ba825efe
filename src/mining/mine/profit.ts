/** Income and cost of mining at the current hashrate, difficulty and power, in doubles. */
import type { Work } from '#ground/chain/work.ts'

/** An amount of money. */
export interface Price {
  readonly amount: number
  /** Capital letters, such as `USD`. */
  readonly currency: string
}

/** The prices that the user states, in one currency. newcut fetches none. */
export interface Prices {
  /** The price of a coin. */
  readonly coin?: Price | undefined
  /** The price of a kilowatt hour. */
  readonly power?: Price | undefined
}

/** Who pays this miner: the chain itself, a pool after its fee, or the leader of a fleet, whose account earns it all. */
export type Payer = 'chain' | 'pool' | 'leader'

/** The part of the latest own blocks that was lost, and the fees of the paid ones. */
export interface LossAndFees {
  /** Share of settled blocks that are not in their chains; null with too few blocks. */
  readonly lostShare: number | null
  /** Fees of paid blocks, as a fraction of their rewards; null with too few blocks. */
  readonly feeShare: number | null
}

export const unknownFractions: LossAndFees = { lostShare: null, feeShare: null }

/** Power draw of the miner. */
interface PowerDraw {
  /** Null if unknown. */
  readonly watts: number | null
  /** Number of searching devices without a reading. */
  readonly unread: number
  /** Why it is unknown, and what helps; null if there is nothing to say. */
  readonly problem: string | null
}

export interface ProfitBasis {
  /** Hashes per second. */
  readonly hashrate: number
  /** Mean number of hashes for a block of the current chain. */
  readonly difficulty: number
  /** Coins of a block. */
  readonly reward: number
  readonly payer: Payer
  readonly lossAndFees: LossAndFees
  readonly power: PowerDraw
  readonly prices: Prices
}

/** Expected income and cost of 24 hours. Money is in `currency`. A value is null if it is unknown. */
export interface ProfitSnapshot extends LossAndFees {
  readonly payer: Payer
  readonly hashrate: number
  readonly difficulty: number
  /** Coins of a block, without fees. */
  readonly reward: number
  /** Less the measured loss, and with the measured fees. For a pool: before its own fee. */
  readonly coinsPerDay: number
  readonly watts: number | null
  /** Number of searching devices that `watts` lacks. */
  readonly unreadDevices: number
  readonly powerProblem: string | null
  /** Null without a price. */
  readonly currency: string | null
  readonly coinPrice: number | null
  /** Per kilowatt hour. */
  readonly powerPrice: number | null
  readonly incomePerDay: number | null
  readonly powerCostPerDay: number | null
  /** Income less power; negative for a loss. */
  readonly profitPerDay: number | null
  /** Price of a coin at which income equals cost. */
  readonly breakEvenCoinPrice: number | null
  /** Price of a kilowatt hour at which cost equals income. */
  readonly breakEvenPowerPrice: number | null
}

const DAY_S = 86_400
const DAY_H = 24

/** Every hash serves one block of one chain, so the difficulty of that chain alone decides. */
export function profitOf({ power, prices, lossAndFees, ...basis }: ProfitBasis): ProfitSnapshot {
  const { hashrate, difficulty, reward } = basis
  const blocksPerDay = difficulty > 0 ? (hashrate * DAY_S) / difficulty : 0
  const coinsPerDay = blocksPerDay * reward * (1 + (lossAndFees.feeShare ?? 0)) * (1 - (lossAndFees.lostShare ?? 0))
  const kilowattHours = power.watts === null ? null : (power.watts * DAY_H) / 1000
  const coinPrice = prices.coin?.amount ?? null
  const powerPrice = prices.power?.amount ?? null
  const incomePerDay = coinPrice === null ? null : coinsPerDay * coinPrice
  const powerCostPerDay = kilowattHours === null || powerPrice === null ? null : kilowattHours * powerPrice
  return {
    ...basis,
    ...lossAndFees,
    coinsPerDay,
    watts: power.watts,
    unreadDevices: power.unread,
    powerProblem: power.problem,
    currency: (prices.coin ?? prices.power)?.currency ?? null,
    coinPrice,
    powerPrice,
    incomePerDay,
    powerCostPerDay,
    profitPerDay: incomePerDay === null || powerCostPerDay === null ? null : incomePerDay - powerCostPerDay,
    breakEvenCoinPrice: powerCostPerDay === null ? null : ratio(powerCostPerDay, coinsPerDay),
    breakEvenPowerPrice: incomePerDay === null || kilowattHours === null ? null : ratio(incomePerDay, kilowattHours),
  }
}

const ratio = (above: number, below: number) => (below > 0 ? above / below : null)

/** A sum over blocks. */
export interface PaidSum {
  /** Blocks that are in their chains, with a known reward. */
  readonly blocks: number
  /** Their rewards and fees together, as a decimal number. */
  readonly coins: string
  /** The part of `coins` that transactions paid. Blocks with unknown fees add nothing. */
  readonly fees: string
}

export interface EarningsSnapshot {
  /** Blocks of this run. */
  readonly run: PaidSum
  /** Blocks of all runs on this network in the journal, this run included. */
  readonly total: PaidSum
  /** Blocks in their chains whose reward is not known yet. */
  readonly unknownBlocks: number
  /** Settled solutions that are not in their chains: stale, orphaned, rejected or lost. */
  readonly lostBlocks: number
  /** `total.coins` at the stated price of a coin; null without a price. */
  readonly value: number | null
  /** Currency of `value`. */
  readonly currency: string | null
}

/** The current state of the search. */
export interface SearchState {
  /** Current work, or null. */
  readonly work: Work | null
  /** Number of chains that the source knows; 0 if unknown. */
  readonly chains: number
  /** Hashes per second. */
  readonly hashrate: number
  readonly power: PowerDraw
}

/** The parts of a miner's snapshot about money. */
export interface MoneyParts {
  /** Expected coins, income and cost of a day. Absent before the first work, and if the number of chains is unknown. */
  readonly profit?: ProfitSnapshot
  /** Blocks that the chain paid. Absent where a pool or the leader of a fleet is paid. */
  readonly earnings?: EarningsSnapshot
}
