/** Type names for messages. */
import { Decimal } from '../values/decimal.ts'
import { TableRef } from '../values/type.ts'
import { CapabilityToken, Guard, ModuleRef, Time, Unit } from '../values/value.ts'
import { Callable, type Term } from './term.ts'

/** Type of a term for messages: `integer`, `list`, `closure`, ... A list does not name the type of its items. */
export function typeName(term: Term): string {
  if (typeof term === 'string') return 'string'
  if (typeof term === 'bigint') return 'integer'
  if (typeof term === 'boolean') return 'bool'
  if (term instanceof Decimal) return 'decimal'
  if (Array.isArray(term)) return 'list'
  if (term instanceof Map) return 'object'
  if (term instanceof Time) return 'time'
  if (term instanceof Guard) return 'guard'
  if (term instanceof ModuleRef) return 'module'
  if (term instanceof Unit) return 'unit'
  if (term instanceof CapabilityToken) return 'cap-token'
  if (term instanceof TableRef) return 'table'
  return term instanceof Callable ? 'closure' : 'unknown'
}
