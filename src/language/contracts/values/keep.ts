/**
 * Lossless JSON encoding of values.
 *
 * The wire format is lossy: it turns `1.50` into `1.5`, drops milliseconds and decodes some objects as guards.
 */
import { FormatError } from '#ground/base/errors.ts'
import { Decimal } from './decimal.ts'
import { type KeptTable, keepTable, keptTable } from './keep-table.ts'
import { CapabilityToken, Guard, type GuardKind, ModuleRef, TableRef, Time, UNIT, Unit, type Value } from './value.ts'

/** Strings, booleans and lists encode as themselves, all others as an object whose only field names the kind. */
export type KeptValue =
  | string
  | boolean
  | readonly KeptValue[]
  | { readonly int: string }
  | { readonly decimal: readonly [mantissa: string, places: number] }
  | { readonly object: readonly (readonly [field: string, value: KeptValue])[] }
  | { readonly time: string }
  | { readonly unit: true }
  | { readonly guard: KeptGuard }
  | { readonly module: readonly [name: string, interfaces: readonly string[]] }
  | { readonly table: KeptTable }
  | { readonly token: readonly [name: string, args: readonly KeptValue[]] }

type KeptFields<T> = { readonly [K in keyof T]: K extends 'args' ? readonly KeptValue[] : T[K] }
type KeptGuard = { [K in GuardKind['kind']]: KeptFields<Extract<GuardKind, { kind: K }>> }[GuardKind['kind']]

/** Encodes a value; `keptValue` decodes it. */
export function keepValue(value: Value): KeptValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'bigint') return { int: hex(value) }
  if (value instanceof Decimal) return { decimal: [hex(value.mantissa), value.places] }
  if (Array.isArray(value)) return value.map(keepValue)
  if (value instanceof Map) return { object: [...value].map(([field, item]) => [field, keepValue(item)]) }
  if (value instanceof Time) return { time: hex(value.micros) }
  if (value instanceof Unit) return { unit: true }
  if (value instanceof Guard) {
    const { is } = value
    return { guard: 'args' in is ? { ...is, args: is.args.map(keepValue) } : is }
  }
  if (value instanceof ModuleRef) return { module: [value.name, value.interfaces] }
  if (value instanceof TableRef) return { table: keepTable(value) }
  const { name, args } = value as CapabilityToken
  return { token: [name, args.map(keepValue)] }
}

/**
 * Decodes the result of `keepValue`.
 * @throws FormatError for an unknown kind of value
 */
export function keptValue(json: KeptValue): Value {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if ('int' in json) return whole(json.int)
  if ('decimal' in json) return new Decimal(whole(json.decimal[0]), json.decimal[1])
  if ('object' in json) return new Map(json.object.map(([field, item]) => [field, keptValue(item)]))
  if ('time' in json) return new Time(whole(json.time))
  if ('unit' in json) return UNIT
  if ('guard' in json) {
    const { guard } = json
    return new Guard('args' in guard ? { ...guard, args: guard.args.map(keptValue) } : guard)
  }
  if ('module' in json) return new ModuleRef(...json.module)
  if ('table' in json) return keptTable(json.table)
  if ('token' in json) return new CapabilityToken(json.token[0], json.token[1].map(keptValue))
  if (Array.isArray(json)) return json.map(keptValue)
  throw new FormatError('kept value', 0, `no known kind of value: ${Object.keys(json)[0]}`)
}

/** Hexadecimal, because parsing long numbers from decimal digits is slow. */
function hex(n: bigint): string {
  return n < 0n ? `-${(-n).toString(16)}` : n.toString(16)
}

function whole(text: string): bigint {
  return text.startsWith('-') ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`)
}
