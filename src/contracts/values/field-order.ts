/**
 * Order of object fields in results, events and hashed text.
 *
 * Nodes write fields in the order of the hash map that once held them. Fields sort by the hash of their name, compared
 * from the lowest four bits to the highest. The hash is 64-bit FNV-1 over the name in UTF-16. Real outputs of the
 * network and a hash of an object confirm it.
 */
import { compareText } from './order.ts'

const START = BigInt.asUintN(64, -2578643520546668380n)
const PRIME = 16_777_619n
/** Cache limits. Programs use few field names, and short ones. */
const MAX_KNOWN = 10_000
const MAX_KNOWN_CHARACTERS = 200
const known = new Map<string, string>()

/** Sorts the fields of an object into wire order. */
export function inWireOrder<T>(fields: Iterable<readonly [name: string, value: T]>): (readonly [string, T])[] {
  return [...fields].sort(([a], [b]) => {
    const [x, y] = [sortKeyOf(a), sortKeyOf(b)]
    return x === y ? compareText(a, b) : x < y ? -1 : 1
  })
}

/** Hash of the name in hexadecimal, lowest digit first. */
function sortKeyOf(name: string): string {
  const before = known.get(name)
  if (before !== undefined) return before
  let hash = START
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at)
    for (const byte of [unit & 0xff, unit >> 8]) hash = BigInt.asUintN(64, hash * PRIME) ^ BigInt(byte)
  }
  const place = [...hash.toString(16).padStart(16, '0')].reverse().join('')
  if (name.length > MAX_KNOWN_CHARACTERS) return place
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(name, place)
  return place
}
