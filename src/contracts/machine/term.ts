/** What an expression gives: a value, or what can only be used within a command, functions and tables. */
import { evalError } from '../errors.ts'
import type { Value } from '../values/value.ts'

/** What can be applied. Subclasses: natives, functions of modules, lambdas, and all of these partly applied. */
export abstract class Callable {
  /** For messages. */
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

/** Throws EvalError for functions and tables. */
export function asValue(term: Term): Value {
  if (!isValue(term)) {
    throw evalError('Expected a Pact value, but got a closure or table reference.')
  }
  return term
}
