/** Exact sums of rewards and fees of rows. */
import { exactOf, exactUnits } from '#ground/base/coins.ts'
import type { BlockRecord } from './record.ts'
import { AMOUNT_IN_LINE, NO_AMOUNT, type RecordTable } from './record-table.ts'

/** Above this, another amount could make a double inexact. */
const MAX_DOUBLE = 2 ** 52

/** Reads records of rows from the disk. */
type RecordReader = (rows: Iterable<number>) => Iterable<BlockRecord>

/** Amounts in exact units (base/coins.ts). */
interface ExactCoins {
  readonly rewards: bigint
  readonly fees: bigint
}

/** Adds up units: in a double while it is exact. */
class UnitSum {
  #whole = 0n
  #part = 0

  add(units: number): void {
    if (this.#part > MAX_DOUBLE || units > MAX_DOUBLE) {
      this.#whole += BigInt(this.#part)
      this.#part = 0
    }
    if (units > MAX_DOUBLE) this.#whole += BigInt(units)
    else this.#part += units
  }

  exact(): bigint {
    return exactOf(this.#whole + BigInt(this.#part))
  }
}

export class CoinTotal {
  /** Number of added rows. */
  blocks = 0
  readonly #rewards = new UnitSum()
  readonly #fees = new UnitSum()
  /** Rows with an amount that only their lines have. */
  readonly #inLines: number[] = []

  /** Adds the reward and the fees of a row. Unknown ones count as 0. */
  add(table: RecordTable, row: number): void {
    const reward = table.rewardOf(row)
    const fees = table.feesOf(row)
    this.blocks++
    if (reward === AMOUNT_IN_LINE || fees === AMOUNT_IN_LINE) {
      this.#inLines.push(row)
      return
    }
    if (reward !== NO_AMOUNT) this.#rewards.add(reward)
    if (fees !== NO_AMOUNT) this.#fees.add(fees)
  }

  /**
   * The sums of all added rows.
   * @throws NewcutError BAD_INPUT if a line cannot be read
   */
  coins(records: RecordReader): ExactCoins {
    let rewards = this.#rewards.exact()
    let fees = this.#fees.exact()
    for (const record of records(this.#inLines)) {
      rewards += exactUnits(record.reward ?? '0')
      fees += exactUnits(record.fees ?? '0')
    }
    return { rewards, fees }
  }
}
