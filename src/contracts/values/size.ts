/**
 * How large and how deep a value is as a tree. Values share parts, so a few steps can make a tree that no walk would
 * ever end. Sizes of parts are kept, so that the size of a new value takes only its own items.
 */
import { Decimal } from './decimal.ts'
import { CapabilityToken, Guard, type Value } from './value.ts'

export interface Size {
  /** About characters in print, and some for each part. */
  readonly weight: number
  /** Levels of lists, objects, guards and tokens within each other; 0: none. */
  readonly depth: number
}

/** What every part weighs. */
const PART = 10
const KEY = 64
const SMALL = 300
/** Deeper values have no size: nothing may walk through them. */
const MAX_DEPTH = 1000
const ENDLESS: Size = { weight: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY }

const known = new WeakMap<object, Size>()

/** Infinite for values beyond 1000 levels. */
export function sizeOf(value: Value): Size {
  return sizeAt(value, 0)
}

function sizeAt(value: Value, level: number): Size {
  if (typeof value === 'string') return { weight: PART + value.length, depth: 0 }
  if (typeof value === 'bigint') return { weight: PART + digits(value), depth: 0 }
  if (typeof value === 'boolean') return { weight: PART, depth: 0 }
  if (value instanceof Decimal) return { weight: PART + digits(value.mantissa) + value.places, depth: 0 }
  const own = known.get(value)
  if (own !== undefined) return own
  if (level > MAX_DEPTH) return ENDLESS
  const size = sizeOfParts(value, level + 1)
  // What is too deep here may not be too deep by itself. Small values are measured again sooner than found again.
  const isSmall = size.depth === 1 && size.weight < SMALL
  if (!isSmall && size.depth < MAX_DEPTH) known.set(value, size)
  return size
}

function sizeOfParts(value: object, level: number): Size {
  let weight = PART
  let depth = 0
  const add = (part: Value): void => {
    const size = sizeAt(part, level)
    weight += size.weight
    if (size.depth > depth) depth = size.depth
  }
  if (Array.isArray(value)) for (const item of value as readonly Value[]) add(item)
  else if (value instanceof Map) {
    for (const [key, item] of value as ReadonlyMap<string, Value>) {
      weight += key.length
      add(item)
    }
  } else if (value instanceof CapabilityToken) for (const item of value.args) add(item)
  else if (value instanceof Guard) {
    if ('args' in value.is) for (const item of value.is.args) add(item)
    if (value.is.kind === 'keyset') weight += value.is.keys.length * KEY
  } else return { weight, depth: 0 }
  return { weight, depth: depth + 1 }
}

/** About how many decimal digits. */
function digits(n: bigint): number {
  return n < 1_000_000_000n && n > -1_000_000_000n ? 1 : Math.ceil(n.toString(16).length * 1.2042)
}
