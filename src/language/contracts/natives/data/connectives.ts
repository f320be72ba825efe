/** `and` and `or` used as functions. Calls with both arguments are special forms. */
import { failure } from '../../failures/failure.ts'
import { type Native, native } from '../../machine/native.ts'
import { asValue, type Term } from '../../machine/term.ts'
import { argumentTypeName } from '../../machine/types.ts'
import { showValue } from '../../values/print.ts'

function bool(term: Term): boolean {
  if (typeof term === 'boolean') return term
  const value = asValue(term)
  throw failure('NO_BOOL', { type: argumentTypeName(value), value: () => showValue(value) })
}

export const connectives: readonly Native[] = [
  native('and', 2, 2, ({ all: [one, other] }) => bool(one) && bool(other)),
  native('or', 2, 2, ({ all: [one, other] }) => bool(one) || bool(other)),
]
