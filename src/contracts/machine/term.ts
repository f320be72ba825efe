/** Results of expressions: values, or functions and tables, which exist only within a command. */
import { type ContractError, evalError } from '../errors.ts'
import type { Value } from '../values/value.ts'

/** Base class of natives, module functions, lambdas and partial applications. */
export abstract class Callable {
  /** Name for messages. */
  abstract readonly name: string
}

/** A table of a module, created or not. */
export class TableRef {
  /** Qualified name of the module. */
  readonly module: string
  readonly name: string
  readonly qualified: string

  constructor(module: string, name: string) {
    this.module = module
    this.name = name
    this.qualified = `${module}.${name}`
  }
}

export type Term = Value | Callable | TableRef

export function isValue(term: Term): term is Value {
  return !(term instanceof Callable) && !(term instanceof TableRef)
}

/** @throws EvalError for functions and tables */
export function asValue(term: Term): Value {
  if (!isValue(term)) throw notValue()
  return term
}

/** @throws EvalError for functions, partially applied or not */
export function notCallable(term: Term): Value | TableRef {
  if (term instanceof Callable) throw notValue()
  return term
}

function notValue(): ContractError {
  return evalError('Expected a Pact value, but got a closure or table reference.')
}
