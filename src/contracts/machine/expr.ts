/** What code is made of once its names are known. Variables are found by their distance, not by name. */
import type { Place } from '../errors.ts'
import type { Evaluator } from './evaluator.ts'
import type { Term } from './term.ts'

/** Values of local variables, the innermost first. */
export interface Env {
  readonly value: Term
  readonly up: Env | null
}

export interface Expr {
  readonly place: Place
  evaluate(machine: Evaluator, env: Env | null): Term
}
