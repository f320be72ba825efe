/** Type names of arguments in messages of live nodes and test files. */
import { CapabilityToken, ModuleRef } from '../values/value.ts'
import type { Term } from './term.ts'
import { typeName } from './type-name.ts'

/** Type of an argument: as typeName(), but a reference to a module is a `modref`, a capability token a `closure`. */
export function argumentType(term: Term): string {
  if (term instanceof ModuleRef) return 'modref'
  return term instanceof CapabilityToken ? 'closure' : typeName(term)
}
