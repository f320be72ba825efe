/** What mining earns and costs, at the present hashrate, difficulty and power. Pure arithmetic in doubles. */

/** An amount of money. */
export interface Price {
  readonly amount: number
  /** Capital letters, such as `USD`. */
  readonly currency: string
}

/** The prices that the user states, in one currency. newcut fetches none. */
export interface Prices {
  /** Of a coin. */
  readonly coin?: Price | undefined
  /** Of a kilowatt hour. */
  readonly power?: Price | undefined
}

/** Who pays this miner: the chain itself, a pool after its fee, or the leader of a fleet, whose account earns it all. */
export type Payer = 'chain' | 'pool' | 'leader'

/** The part of the latest own blocks that was lost, and the fees of the paid ones. */
export interface BlockShares {
  /** Share of settled blocks that are not in their chains; null with too few blocks. */
  readonly lostShare: number | null
  /** Fees of paid blocks, as a share of their rewards; null with too few blocks. */
  readonly feeShare: number | null
}

export const noShares: BlockShares = { lostShare: null, feeShare: null }

/** Power draw of the miner. */
export interface PowerDraw {
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
  readonly shares: BlockShares
  readonly power: PowerDraw
  readonly prices: Prices
}

/** Expected income and cost of 24 hours. Money is in `currency`. A value is null if it is unknown. */
export interface ProfitSnapshot extends BlockShares {
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
export function profitOf({ power, prices, shares, ...basis }: ProfitBasis): ProfitSnapshot {
  const { hashrate, difficulty, reward } = basis
  const blocksPerDay = difficulty > 0 ? (hashrate * DAY_S) / difficulty : 0
  const coinsPerDay = blocksPerDay * reward * (1 + (shares.feeShare ?? 0)) * (1 - (shares.lostShare ?? 0))
  const kilowattHours = power.watts === null ? null : (power.watts * DAY_H) / 1000
  const coinPrice = prices.coin?.amount ?? null
  const powerPrice = prices.power?.amount ?? null
  const incomePerDay = coinPrice === null ? null : coinsPerDay * coinPrice
  const powerCostPerDay = kilowattHours === null || powerPrice === null ? null : kilowattHours * powerPrice
  return {
    ...basis,
    ...shares,
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
