/** What a native function is to the evaluator, and what the evaluator is to a native function. */
import type { Place } from '../errors.ts'
import type { Arguments } from './arguments.ts'
import type { Callable, Term } from './term.ts'

/** Natives that need nothing but their arguments, and functions among them, take this much of the evaluator. */
export interface Host {
  /** Calls a function, which may be partly applied (`(+ 1)`) or a lambda. */
  apply(fn: Callable, args: readonly Term[], place: Place): Term
  /** Takes thousandths of gas. Throws when the limit is exceeded. */
  charge(milligas: number): void
}

export interface Native<H extends Host = Host> {
  readonly name: string
  /** Fewest and most arguments. Fewer than the fewest give a partly applied function where one is expected. */
  readonly arity: readonly [fewest: number, most: number]
  readonly run: (args: Arguments<H>) => Term
}
