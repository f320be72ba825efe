/** `and` and `or` used as functions. Calls with both arguments are special forms. */
import { evalError } from '../errors.ts'
import { type Native, native } from '../machine/native.ts'
import type { Term } from '../machine/term.ts'
import { typeName } from '../machine/type-name.ts'

function bool(term: Term): boolean {
  if (typeof term === 'boolean') return term
  throw evalError(`Expected Boolean value, but got: ${typeName(term)}`)
}

export const connectives: readonly Native[] = [
  native('and', 2, 2, ({ all: [one, other] }) => bool(one) && bool(other)),
  native('or', 2, 2, ({ all: [one, other] }) => bool(one) || bool(other)),
]
