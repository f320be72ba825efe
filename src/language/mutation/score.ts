/** Sums of mutants, by operator and in all. */

import { operators } from './operators.ts'
import type { MutantResult, MutantStatus } from './result.ts'

export interface MutantCounts {
  /** Mutants that a test has failed on, or that ran without end. */
  readonly killed: number
  readonly survived: number
  /** Per cent that was killed; 100 if none was judged. */
  readonly score: number
}

interface OperatorCounts extends MutantCounts {
  readonly operator: string
  readonly change: string
}

export function countMutants(mutants: readonly MutantResult[]): MutantCounts {
  const killed = countOf(mutants, 'killed') + countOf(mutants, 'endless')
  const survived = countOf(mutants, 'survived')
  return { killed, survived, score: killed + survived === 0 ? 100 : (100 * killed) / (killed + survived) }
}

export function countOf(mutants: readonly MutantResult[], status: MutantStatus): number {
  return mutants.filter((each) => each.status === status).length
}

/** The operators that made a mutant, in the order of their table. */
export function countByOperator(mutants: readonly MutantResult[]): OperatorCounts[] {
  return operators.flatMap(({ name, change }) => {
    const counts = countMutants(mutants.filter(({ operator }) => operator === name))
    return counts.killed + counts.survived === 0 ? [] : [{ operator: name, change, ...counts }]
  })
}

/** A score with one decimal place, rounded down: 100 means all. */
export function scoreText(score: number): string {
  return `${(Math.floor(score * 10) / 10).toFixed(1)} %`
}
