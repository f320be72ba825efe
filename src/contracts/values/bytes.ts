/**
 * Approximate size of a value in a row, in bytes. Row reads and writes are charged by it.
 *
 * The estimate follows the JSON wire format. The public network measures its own encoding, which has about the same
 * size.
 */
import { bitLength } from './bits.ts'
import { Decimal } from './decimal.ts'
import { sizeOf } from './size.ts'
import { Guard, Time, Unit, type Value } from './value.ts'

const DIGITS_PER_BIT = Math.log10(2)

export function bytesOf(value: Value): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'boolean') return value ? 4 : 5
  if (typeof value === 'bigint') return digits(value) + '{"int":}'.length
  if (value instanceof Decimal) return digits(value.mantissa) + 2
  if (Array.isArray(value)) {
    let bytes = 2
    for (const item of value) bytes += bytesOf(item) + 1
    return bytes
  }
  if (value instanceof Map) {
    let bytes = 2
    for (const [name, item] of value as ReadonlyMap<string, Value>) bytes += name.length + 5 + bytesOf(item)
    return bytes
  }
  if (value instanceof Time) return '{"time":"2024-01-01T00:00:00Z"}'.length
  if (value instanceof Unit) return 4
  if (value instanceof Guard && value.is.kind === 'keyset') {
    let bytes = '{"pred":"","keys":[]}'.length + value.is.predicate.length
    for (const key of value.is.keys) bytes += key.length + 3
    return bytes
  }
  return sizeOf(value).weight
}

/** Approximate number of decimal digits. */
function digits(n: bigint): number {
  return Math.max(1, Math.ceil(bitLength(n) * DIGITS_PER_BIT))
}
