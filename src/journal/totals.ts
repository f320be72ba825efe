/** Totals of a journal, from its table. */
import { type StepName, stepNames } from '../core/solution.ts'
import { UNITS } from './canonical-line.ts'
import type { JournalContent } from './content.ts'
import { NO_REWARD, REWARD_IN_LINE } from './record-table.ts'

export interface JournalTotals {
  /** Solutions by state, in the order of the life cycle; only states that occur. */
  readonly states: ReadonlyMap<StepName, number>
  /** Confirmed blocks with a known reward. */
  readonly paid: number
  /** The exact sum of their rewards in coins, as a decimal number. */
  readonly coins: string
}

/** Units of the sum: as many digits as an amount in the journal may have. */
const FRACTION_DIGITS = 20
const PER_UNIT = 10n ** BigInt(FRACTION_DIGITS) / BigInt(UNITS)

/** Sums up all solutions. Throws NewcutError BAD_INPUT if a line cannot be read. */
export function totalsOf({ table, records }: Pick<JournalContent, 'table' | 'records'>): JournalTotals {
  const counts = new Map<StepName, number>()
  const inLines: number[] = []
  let paid = 0
  let sum = 0n
  for (let row = 0; row < table.rows; row++) {
    const state = table.stateOf(row)
    counts.set(state, (counts.get(state) ?? 0) + 1)
    const units = table.rewardOf(row)
    if (state !== 'confirmed' || units === NO_REWARD) continue
    paid++
    if (units === REWARD_IN_LINE) inLines.push(row)
    else sum += BigInt(units)
  }
  sum *= PER_UNIT
  for (const { reward } of records(inLines)) sum += exactUnits(reward ?? '0')
  const states = new Map(stepNames.flatMap((step) => (counts.has(step) ? [[step, counts.get(step) ?? 0]] : [])))
  return { states, paid, coins: decimalOf(sum) }
}

function exactUnits(amount: string): bigint {
  const [whole, fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'))
}

function decimalOf(units: bigint): string {
  const digits = units.toString().padStart(FRACTION_DIGITS + 1, '0')
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '')
  return digits.slice(0, -FRACTION_DIGITS) + (fraction === '' ? '' : `.${fraction}`)
}
