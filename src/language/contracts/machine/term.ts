/** Results of expressions: values, or functions, which exist only within a command. */
import { evalError } from '../errors.ts'
import type { Value } from '../values/value.ts'

/** Base class of natives, module functions, lambdas and partial applications. */
export abstract class Callable {
  /** Name for messages. */
  abstract readonly name: string
}

export type Term = Value | Callable

export function isValue(term: Term): term is Value {
  return !(term instanceof Callable)
}

/** @throws EvalError for functions, partially applied or not */
export function asValue(term: Term): Value {
  if (!isValue(term)) throw evalError('Expected a Pact value, but got a closure or table reference.')
  return term
}
