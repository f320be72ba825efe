/**
 * Order of object fields in results, events and hashed text.
 *
 * Nodes write fields in the order of the hash map that once held them. Fields sort by the hash of their name, compared
 * from the lowest four bits to the highest. The hash is 64-bit FNV-1 over the name in UTF-16. Real outputs of the
 * network and a hash of an object confirm it.
 */
import { compareText } from './compare.ts'

/** The first hash, in words of 16 bits, lowest first. */
const START = [0x00a4, 0x5b74, 0xd161, 0xdc36] as const
/** The prime is 2^24 + 0x193: 0x100 in the second word, and this in the first. */
const PRIME_LOW = 0x193
const PRIME_HIGH = 0x100
/** Cache limits. Programs use few field names, and short ones. */
const MAX_KNOWN = 10_000
const MAX_KNOWN_CHARACTERS = 200
const known = new Map<string, string>()

/** Sorts the fields of an object into wire order. Hashes each name once. */
export function inWireOrder<T>(fields: Iterable<readonly [name: string, value: T]>): (readonly [string, T])[] {
  const places: { readonly field: readonly [string, T]; readonly place: string }[] = []
  for (const field of fields) places.push({ field, place: placeOf(field[0]) })
  places.sort((a, b) => {
    if (a.place === b.place) return compareText(a.field[0], b.field[0])
    return a.place < b.place ? -1 : 1
  })
  return places.map(({ field }) => field)
}

/** Hash of the name in hexadecimal, lowest digit first. */
function placeOf(name: string): string {
  if (name.length > MAX_KNOWN_CHARACTERS) return hashOf(name)
  const before = known.get(name)
  if (before !== undefined) return before
  if (known.size >= MAX_KNOWN) known.clear()
  const place = hashOf(name)
  known.set(name, place)
  return place
}

function hashOf(name: string): string {
  let [a, b, c, d] = START as readonly number[]
  const mix = (byte: number) => {
    const low = a * PRIME_LOW
    const second = b * PRIME_LOW + a * PRIME_HIGH + (low >>> 16)
    const third = c * PRIME_LOW + b * PRIME_HIGH + (second >>> 16)
    d = (d * PRIME_LOW + c * PRIME_HIGH + (third >>> 16)) & 0xffff
    c = third & 0xffff
    b = second & 0xffff
    a = (low & 0xffff) ^ byte
  }
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at)
    mix(unit & 0xff)
    mix(unit >> 8)
  }
  return [a, b, c, d].map((word) => [...word.toString(16).padStart(4, '0')].reverse().join('')).join('')
}
