/** Equality of values, and the order of texts. */
import { Decimal } from './decimal.ts'
import { CapabilityToken, Guard, type GuardKind, ModuleRef, TableRef, Time, Unit, type Value } from './value.ts'

/**
 * Compares decimals by number (`1.0` equals `1.00` but not the integer `1`), module references by name, tables by
 * name and module hash, and other values by their parts.
 */
export function equalValues(a: Value, b: Value): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  if (a === b) return true
  if (a instanceof Decimal) return b instanceof Decimal && a.compare(b) === 0
  if (a instanceof Time) return b instanceof Time && a.micros === b.micros
  if (a instanceof Unit) return b instanceof Unit
  if (a instanceof ModuleRef) return b instanceof ModuleRef && a.name === b.name
  if (a instanceof TableRef) return b instanceof TableRef && a.qualified === b.qualified && a.hash === b.hash
  if (a instanceof CapabilityToken) {
    return b instanceof CapabilityToken && a.name === b.name && equalLists(a.args, b.args)
  }
  if (a instanceof Guard) return b instanceof Guard && equalGuards(a.is, b.is)
  if (a instanceof Map) return b instanceof Map && equalObjects(a, b)
  return Array.isArray(a) && Array.isArray(b) && equalLists(a, b)
}

/** True if both lists hold equal values in the same order. */
export function equalLists(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length && a.every((item, i) => equalValues(item, b[i]))
}

function equalObjects(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>): boolean {
  if (a.size !== b.size) return false
  for (const [field, value] of a) {
    const other = b.get(field)
    if (other === undefined || !equalValues(value, other)) return false
  }
  return true
}

function equalGuards(a: GuardKind, b: GuardKind): boolean {
  switch (a.kind) {
    case 'keyset':
      return b.kind === 'keyset' && a.predicate === b.predicate && equalKeys(a.keys, b.keys)
    case 'keysetRef':
      return b.kind === 'keysetRef' && a.name === b.name
    case 'user':
      return b.kind === 'user' && a.fun === b.fun && equalLists(a.args, b.args)
    case 'capability':
      return b.kind === 'capability' && a.name === b.name && a.pactId === b.pactId && equalLists(a.args, b.args)
    case 'module':
      return b.kind === 'module' && a.module === b.module && a.name === b.name
    case 'pact':
      return b.kind === 'pact' && a.pactId === b.pactId && a.name === b.name
  }
}

/** Ignores order and duplicates. */
function equalKeys(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)]
  return left.size === right.size && a.every((key) => right.has(key))
}

/** Compares by code point, as the language orders strings and fields. JavaScript compares by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = commonPieces(a, b, length); i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return weight(x) - weight(y)
  }
  return a.length - b.length
}

/** Pieces that the engine compares at once: more than a comparison by unit costs. */
const PIECE = 256

/** Length of the pieces at the beginning that are equal in both. */
function commonPieces(a: string, b: string, length: number): number {
  let at = 0
  while (at + PIECE <= length && a.slice(at, at + PIECE) === b.slice(at, at + PIECE)) at += PIECE
  return at
}

/** Ranks surrogates above all single-unit code points. */
function weight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
