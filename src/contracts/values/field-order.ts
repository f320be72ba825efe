/**
 * The order in which nodes write the fields of an object, in results, events and what is hashed: that of the hash table
 * in which they once kept them. A field's place is its hash, from the lowest four bits to the highest; the hash is FNV-1
 * with 64 bits, over the name in UTF-16. Real outputs of the network and a hash of an object confirm it.
 */
import { compareText } from './order.ts'

const START = BigInt.asUintN(64, -2578643520546668380n)
const PRIME = 16_777_619n
/** Names whose place is remembered: programs have few, and short ones. */
const MAX_KNOWN = 10_000
const MAX_KNOWN_CHARACTERS = 200
const known = new Map<string, string>()

/** The fields of an object in the order of the wire. */
export function inWireOrder<T>(fields: Iterable<readonly [name: string, value: T]>): (readonly [string, T])[] {
  return [...fields].sort(([a], [b]) => {
    const [x, y] = [placeOf(a), placeOf(b)]
    return x === y ? compareText(a, b) : x < y ? -1 : 1
  })
}

/** The hash as hexadecimal digits, the lowest first. */
function placeOf(name: string): string {
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
