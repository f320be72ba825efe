/** Type names of arguments in messages of live nodes and test files. */
import { CapabilityToken, ModuleRef } from '../values/value.ts'
import type { Term } from './term.ts'
import { typeName } from './type-name.ts'

/** Type of an argument. A list is a `list`, a reference to a module a `modref`, a capability token a `closure`. */
export function argumentType(term: Term): string {
  // Does not look at items: walking a large list would be too slow.
  if (Array.isArray(term)) return 'list'
  if (term instanceof ModuleRef) return 'modref'
  return term instanceof CapabilityToken ? 'closure' : typeName(term)
}
