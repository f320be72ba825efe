/** Orderings: `<` and the like compare values of the same type, `sort` orders all values. */

import { compareText } from './compare.ts'
import { Decimal } from './decimal.ts'
import {
  CapabilityToken,
  Guard,
  type GuardKind,
  ModuleRef,
  type ObjectValue,
  TableRef,
  Time,
  Unit,
  type Value,
} from './value.ts'

/** @returns a negative number, 0 or a positive number, or null if `<` does not order these two values */
export function compareAlike(a: Value, b: Value): number | null {
  if (typeof a === 'bigint' && typeof b === 'bigint') return compareIntegers(a, b)
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (a instanceof Decimal && b instanceof Decimal) return a.compare(b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Time && b instanceof Time) return compareIntegers(a.micros, b.micros)
  return a instanceof Unit && b instanceof Unit ? 0 : null
}

/** Total order: by kind, then by content. */
export function compareValues(a: Value, b: Value): number {
  const alike = compareAlike(a, b)
  if (alike !== null) return alike
  const kinds = kindOf(a) - kindOf(b)
  if (kinds !== 0) return kinds
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b)
  if (a instanceof Map && b instanceof Map) return compareObjects(a, b)
  if (a instanceof Guard && b instanceof Guard) return compareLists(guardParts(a.is), guardParts(b.is))
  if (a instanceof ModuleRef && b instanceof ModuleRef) return compareText(a.name, b.name)
  if (a instanceof CapabilityToken && b instanceof CapabilityToken) {
    return compareText(a.name, b.name) || compareLists(a.args, b.args)
  }
  if (a instanceof TableRef && b instanceof TableRef) return compareText(a.qualified, b.qualified)
  return 0
}

/** True if `sort` by fields compares this value. */
export function isSimple(value: Value): boolean {
  return kindOf(value) < FIRST_COMPOUND
}

/**
 * Order of `sort`: strings, integers, decimals, unit and booleans come before times. All other values keep their place,
 * as the original leaves them.
 */
export function compareInSort(a: Value, b: Value): number {
  const [isTime, isOtherTime] = [a instanceof Time, b instanceof Time]
  if ((!isTime && !isSimple(a)) || (!isOtherTime && !isSimple(b))) return 0
  return isTime === isOtherTime ? compareValues(a, b) : isTime ? 1 : -1
}

const FIRST_COMPOUND = 5

function kindOf(value: Value): number {
  if (typeof value === 'string') return 0
  if (typeof value === 'bigint') return 1
  if (value instanceof Decimal) return 2
  if (value instanceof Unit) return 3
  if (typeof value === 'boolean') return 4
  if (Array.isArray(value)) return FIRST_COMPOUND
  if (value instanceof Guard) return 6
  if (value instanceof Map) return 7
  if (value instanceof ModuleRef) return 8
  if (value instanceof CapabilityToken) return 9
  return value instanceof TableRef ? 10 : 11
}

function compareIntegers(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Compares as lists of fields and values, sorted by field name. */
function compareObjects(a: ObjectValue, b: ObjectValue): number {
  const inOrder = (o: ObjectValue): Value[] => [...o].sort(([x], [y]) => compareText(x, y)).flat() as Value[]
  return compareLists(inOrder(a), inOrder(b))
}

/** All components of a guard that determine its identity. */
export function guardParts(guard: GuardKind): readonly Value[] {
  switch (guard.kind) {
    case 'keyset':
      return [guard.kind, [...new Set(guard.keys)].sort(compareText), guard.predicate]
    case 'keysetRef':
      return [guard.kind, guard.name]
    case 'user':
      return [guard.kind, guard.fun, guard.args]
    case 'capability':
      return [guard.kind, guard.name, guard.args, guard.pactId ?? '']
    case 'module':
      return [guard.kind, guard.module, guard.name]
    case 'pact':
      return [guard.kind, guard.pactId, guard.name]
  }
}
