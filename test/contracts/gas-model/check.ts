/** Programs with the seeds of a range, and what they reached. */
import { compareProgram, type Difference } from './compare.ts'
import { makeProgram } from './generate/program.ts'

export interface CheckOrder {
  readonly from: number
  /** The first seed that is left out. */
  readonly to: number
}

export interface Found {
  readonly seed: number
  readonly difference: Difference
}

export interface CheckResult {
  readonly programs: number
  readonly transactions: number
  readonly failures: number
  readonly found: readonly Found[]
  /** Natives, forms and look-ups that ran in the model, and how often. */
  readonly reached: ReadonlyMap<string, number>
}

export function checkPrograms({ from, to }: CheckOrder): CheckResult {
  const reached = new Map<string, number>()
  const found: Found[] = []
  let [transactions, failures] = [0, 0]
  for (let seed = from; seed < to; seed++) {
    const result = compareProgram(makeProgram(seed), (what) => reached.set(what, (reached.get(what) ?? 0) + 1))
    transactions += result.transactions
    failures += result.failures
    if (result.difference !== null) found.push({ seed, difference: result.difference })
  }
  return { programs: to - from, transactions, failures, found, reached }
}

export function addResults(a: CheckResult, b: CheckResult): CheckResult {
  const reached = new Map(a.reached)
  for (const [what, times] of b.reached) reached.set(what, (reached.get(what) ?? 0) + times)
  return {
    programs: a.programs + b.programs,
    transactions: a.transactions + b.transactions,
    failures: a.failures + b.failures,
    found: [...a.found, ...b.found],
    reached,
  }
}

export const NOTHING: CheckResult = { programs: 0, transactions: 0, failures: 0, found: [], reached: new Map() }
