/** Type names for messages. */
import { Decimal } from '../values/decimal.ts'
import { TableRef } from '../values/type.ts'
import { CapabilityToken, Guard, ModuleRef, Time, Unit } from '../values/value.ts'
import { Callable, type Term } from './term.ts'

/** Maximum nesting of list types in a name; deeper lists are named `list`. */
const MAX_DEPTH = 8

/** Type of a term for messages: `integer`, `[string]`, `list` (empty or mixed items), `closure`, ... */
export function typeName(term: Term): string {
  return nameOf(term, MAX_DEPTH)
}

function nameOf(term: Term, depth: number): string {
  if (typeof term === 'string') return 'string'
  if (typeof term === 'bigint') return 'integer'
  if (typeof term === 'boolean') return 'bool'
  if (term instanceof Decimal) return 'decimal'
  if (Array.isArray(term)) return listName(term, depth)
  if (term instanceof Map) return 'object'
  if (term instanceof Time) return 'time'
  if (term instanceof Guard) return 'guard'
  if (term instanceof ModuleRef) return 'module'
  if (term instanceof Unit) return 'unit'
  if (term instanceof CapabilityToken) return 'cap-token'
  if (term instanceof TableRef) return 'table'
  return term instanceof Callable ? 'closure' : 'unknown'
}

function listName(items: readonly Term[], depth: number): string {
  if (items.length === 0 || depth === 0) return 'list'
  const first = nameOf(items[0], depth - 1)
  return items.every((item, i) => i === 0 || nameOf(item, depth - 1) === first) ? `[${first}]` : 'list'
}
