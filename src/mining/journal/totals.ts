/** Totals of a journal, from its table. */
import { exactText } from '#ground/base/coins.ts'
import { type StepName, stepNames } from '#ground/chain/solution.ts'
import { CoinTotal } from './coin-total.ts'
import type { JournalContent } from './content.ts'
import { NO_AMOUNT } from './record-table.ts'

interface JournalTotals {
  /** Solutions by state, in the order of the life cycle; only states that occur. */
  readonly states: ReadonlyMap<StepName, number>
  /** Confirmed blocks with a known reward. */
  readonly paid: number
  /** The exact sum of their rewards in coins, as a decimal number. */
  readonly coins: string
  /** The exact sum of their known fees. */
  readonly fees: string
}

/**
 * Sums up all solutions.
 * @throws NewcutError BAD_INPUT if a line cannot be read
 */
export function totalsOf({ table, records }: Pick<JournalContent, 'table' | 'records'>): JournalTotals {
  const counts = new Map<StepName, number>()
  const paid = new CoinTotal()
  for (let row = 0; row < table.rows; row++) {
    const state = table.stateOf(row)
    counts.set(state, (counts.get(state) ?? 0) + 1)
    if (state === 'confirmed' && table.rewardOf(row) !== NO_AMOUNT) paid.add(table, row)
  }
  const states = new Map(stepNames.flatMap((step) => (counts.has(step) ? [[step, counts.get(step) ?? 0]] : [])))
  const { rewards, fees } = paid.coins(records)
  return { states, paid: paid.blocks, coins: exactText(rewards), fees: exactText(fees) }
}
