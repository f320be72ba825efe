/**
 * Size and depth of a value as a tree.
 *
 * Values share parts, so a few operations can build a tree too large to walk. The size of each part is cached, so
 * measuring a new value visits only its direct items.
 */
import { lengthOrMore } from './bits.ts'
import { Decimal } from './decimal.ts'
import { CapabilityToken, Guard, type GuardKind, ModuleRef, TableRef, Time, type Value } from './value.ts'

export interface ValueSize {
  /** Approximate characters in print, plus a constant for each part. */
  readonly weight: number
  /** Nesting levels of lists, objects, guards and tokens; 0 for a value without parts. */
  readonly depth: number
}

/** Weight of every part, in addition to its characters. */
const PART = 10
/** Characters of a time in print. */
const TIME = 32
const SMALL = 300
/** Deeper values have infinite size, so no code recurses into them. */
const MAX_DEPTH = 1000
const ENDLESS: ValueSize = { weight: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY }

const known = new WeakMap<object, ValueSize>()

/** @returns infinite weight and depth for values of more than 1000 levels */
export function sizeOf(value: Value): ValueSize {
  const weight = leafWeight(value)
  return weight < 0 ? sizeAt(value as object, 0) : { weight, depth: 0 }
}

/** @returns the weight of a value without parts, or -1 if it has parts */
function leafWeight(value: Value): number {
  if (typeof value === 'string') return PART + value.length
  if (typeof value === 'bigint') return PART + digits(value)
  if (typeof value === 'boolean') return PART
  if (value instanceof Time) return TIME
  if (value instanceof Decimal) return PART + digits(value.mantissa) + value.places
  return -1
}

function sizeAt(value: object, level: number): ValueSize {
  const own = known.get(value)
  if (own !== undefined) return own
  if (level > MAX_DEPTH) return ENDLESS
  const size = sizeOfParts(value, level + 1)
  // Do not cache a part that is too deep only within its parent. Measuring a small value again is faster than a cache
  // lookup.
  if (size.weight >= SMALL && size.depth < MAX_DEPTH) known.set(value, size)
  return size
}

function sizeOfParts(value: object, level: number): ValueSize {
  const size = { weight: PART, depth: 0 }
  if (Array.isArray(value)) addAll(size, value, level)
  else if (value instanceof Map) {
    for (const [key, item] of value as ReadonlyMap<string, Value>) {
      size.weight += key.length
      add(size, item, level)
    }
  } else if (value instanceof CapabilityToken) {
    size.weight += value.name.length
    addAll(size, value.args, level)
  } else if (value instanceof Guard) {
    size.weight += guardCharacters(value.is)
    if ('args' in value.is) addAll(size, value.is.args, level)
  } else {
    size.weight += nameCharacters(value)
    return size
  }
  size.depth++
  return size
}

/** Characters of all names and keys in a guard, and a constant for each key. */
function guardCharacters(guard: GuardKind): number {
  switch (guard.kind) {
    case 'keyset':
      return partsOf(guard.keys) + guard.predicate.length
    case 'keysetRef':
      return guard.name.length
    case 'user':
      return guard.fun.length
    case 'capability':
      return guard.name.length + (guard.pactId ?? '').length
    case 'module':
      return guard.module.length + guard.name.length
    case 'pact':
      return guard.pactId.length + guard.name.length
  }
}

/** Characters of the names in a module reference or a table; 0 for other values. */
function nameCharacters(value: object): number {
  if (value instanceof ModuleRef) return value.name.length + partsOf(value.interfaces)
  if (!(value instanceof TableRef)) return 0
  return value.qualified.length + value.hash.length + (value.schema?.qualified ?? '').length
}

function partsOf(texts: readonly string[]): number {
  let weight = texts.length * PART
  for (const text of texts) weight += text.length
  return weight
}

type MutableSize = { -readonly [K in keyof ValueSize]: ValueSize[K] }

function addAll(size: MutableSize, items: readonly Value[], level: number): void {
  for (const item of items) add(size, item, level)
}

function add(size: MutableSize, part: Value, level: number): void {
  const leaf = leafWeight(part)
  if (leaf >= 0) {
    size.weight += leaf
    return
  }
  const { weight, depth } = sizeAt(part as object, level)
  size.weight += weight
  if (depth > size.depth) size.depth = depth
}

/** Approximate number of decimal digits. */
function digits(n: bigint): number {
  if (n < 1_000_000_000n && n > -1_000_000_000n) return 1
  // A sign counts as one more hexadecimal digit.
  return Math.ceil((Math.ceil(lengthOrMore(n) / 4) + (n < 0n ? 1 : 0)) * 1.2042)
}
