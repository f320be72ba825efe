/** Search for tables within a value. */
import { CapabilityToken, TableRef, type Value } from './value.ts'

/** True for a table, and for a list, object or capability token that holds one. Guards hold none. */
export function hasTable(value: Value): boolean {
  if (typeof value !== 'object') return false
  if (value instanceof TableRef) return true
  if (Array.isArray(value)) return value.some(hasTable)
  if (value instanceof Map) return [...(value as ReadonlyMap<string, Value>).values()].some(hasTable)
  return value instanceof CapabilityToken && value.args.some(hasTable)
}
