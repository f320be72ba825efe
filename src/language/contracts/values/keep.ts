/**
 * Lossless JSON encoding of values.
 *
 * The wire format is lossy: it turns `1.50` into `1.5`, drops milliseconds and decodes some objects as guards.
 */
import { FormatError } from '#ground/base/errors.ts'
import { Decimal } from './decimal.ts'
import { decodeStoredTable, encodeStoredTable, type StoredTable } from './keep-table.ts'
import { CapabilityToken, Guard, type GuardKind, ModuleRef, TableRef, Time, UNIT, Unit, type Value } from './value.ts'

/** Strings, booleans and lists encode as themselves, all others as an object whose only field names the kind. */
export type StoredValue =
  | string
  | boolean
  | readonly StoredValue[]
  | { readonly int: string }
  | { readonly decimal: readonly [mantissa: string, places: number] }
  | { readonly object: readonly (readonly [field: string, value: StoredValue])[] }
  | { readonly time: string }
  | { readonly unit: true }
  | { readonly guard: StoredGuard }
  | { readonly module: readonly [name: string, interfaces: readonly string[]] }
  | { readonly table: StoredTable }
  | { readonly token: readonly [name: string, args: readonly StoredValue[]] }

type StoredFields<T> = { readonly [K in keyof T]: K extends 'args' ? readonly StoredValue[] : T[K] }
type StoredGuard = { [K in GuardKind['kind']]: StoredFields<Extract<GuardKind, { kind: K }>> }[GuardKind['kind']]

/** Encodes a value; `decodeStoredValue` decodes it. */
export function encodeStoredValue(value: Value): StoredValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'bigint') return { int: hexOf(value) }
  if (value instanceof Decimal) return { decimal: [hexOf(value.mantissa), value.places] }
  if (Array.isArray(value)) return value.map(encodeStoredValue)
  if (value instanceof Map) return { object: [...value].map(([field, item]) => [field, encodeStoredValue(item)]) }
  if (value instanceof Time) return { time: hexOf(value.micros) }
  if (value instanceof Unit) return { unit: true }
  if (value instanceof Guard) {
    const { is } = value
    return { guard: 'args' in is ? { ...is, args: is.args.map(encodeStoredValue) } : is }
  }
  if (value instanceof ModuleRef) return { module: [value.name, value.interfaces] }
  if (value instanceof TableRef) return { table: encodeStoredTable(value) }
  const { name, args } = value as CapabilityToken
  return { token: [name, args.map(encodeStoredValue)] }
}

/**
 * Decodes the result of `encodeStoredValue`.
 * @throws FormatError for an unknown kind of value
 */
export function decodeStoredValue(json: StoredValue): Value {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if ('int' in json) return parseHex(json.int)
  if ('decimal' in json) return new Decimal(parseHex(json.decimal[0]), json.decimal[1])
  if ('object' in json) return new Map(json.object.map(([field, item]) => [field, decodeStoredValue(item)]))
  if ('time' in json) return new Time(parseHex(json.time))
  if ('unit' in json) return UNIT
  if ('guard' in json) {
    const { guard } = json
    return new Guard('args' in guard ? { ...guard, args: guard.args.map(decodeStoredValue) } : guard)
  }
  if ('module' in json) return new ModuleRef(...json.module)
  if ('table' in json) return decodeStoredTable(json.table)
  if ('token' in json) return new CapabilityToken(json.token[0], json.token[1].map(decodeStoredValue))
  if (Array.isArray(json)) return json.map(decodeStoredValue)
  throw new FormatError('kept value', 0, `unknown kind of value: ${Object.keys(json)[0]}`)
}

/** Hexadecimal, because parsing long numbers from decimal digits is slow. */
function hexOf(n: bigint): string {
  return n < 0n ? `-${(-n).toString(16)}` : n.toString(16)
}

function parseHex(text: string): bigint {
  return text.startsWith('-') ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`)
}
