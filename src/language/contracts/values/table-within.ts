/** Search for tables within a value. */
import { CapabilityToken, TableRef, type Value } from './value.ts'

/** Answers for large values, which do not change. Searching small ones again is faster than a look-up. */
const known = new WeakMap<object, boolean>()
const LARGE = 16

/** True for a table, and for a list, object or capability token that holds one. Guards hold none. */
export function hasTable(value: Value): boolean {
  if (typeof value !== 'object') return false
  if (value instanceof TableRef) return true
  if (Array.isArray(value)) return anyTable(value, value, value.length)
  if (value instanceof Map) return anyTable(value, (value as ReadonlyMap<string, Value>).values(), value.size)
  return value instanceof CapabilityToken && hasTable(value.args)
}

function anyTable(whole: object, parts: Iterable<Value>, count: number): boolean {
  const before = known.get(whole)
  if (before !== undefined) return before
  let found = false
  let parents = 0
  for (const part of parts) {
    if (typeof part !== 'object') continue
    parents++
    found ||= hasTable(part)
  }
  // A small list of lists may hold much, too.
  if (count >= LARGE || parents > 0) known.set(whole, found)
  return found
}
