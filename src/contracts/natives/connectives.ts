/** `and` and `or` where they are used as functions; called with both arguments they are special forms. */
import { evalError } from '../errors.ts'
import type { Term } from '../machine/term.ts'
import { typeName } from '../values/types.ts'
import type { Native } from './native.ts'

function bool(term: Term): boolean {
  if (typeof term === 'boolean') return term
  throw evalError(`Expected Boolean value, but got: ${typeName(term)}`)
}

export const connectives: readonly Native[] = [
  { name: 'and', arity: [2, 2], run: ([one, other]) => bool(one) && bool(other) },
  { name: 'or', arity: [2, 2], run: ([one, other]) => bool(one) || bool(other) },
]
