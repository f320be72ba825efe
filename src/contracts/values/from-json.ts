/** Decodes values from JSON: command data, rows, arguments of capabilities. */
import { FormatError } from '../../core/errors.ts'
import { type ExactJson, NumberText } from '../../core/json.ts'
import { Decimal } from './decimal.ts'
import { guardFromFields, moduleFromJson } from './guard-json.ts'
import { parseTime } from './time-parse.ts'
import { ISO_MICROS, ISO_SECONDS } from './time-text.ts'
import { CapabilityToken, ModuleRef, UNIT, type Value } from './value.ts'

/** Maximum nesting of arrays and objects; values in code have the same limit. */
const MAX_DEPTH = 250
/** Integers as strings, at most 10,000 digits. */
const INTEGER = /^-?\d{1,10000}$/

type JsonObject = { readonly [key: string]: ExactJson }
/** Decodes a nested value. */
export type ReadValue = (json: ExactJson) => Value

/**
 * Decodes a value. Pass JSON from `parseExactJson` if fractions must be exact.
 *
 * A number becomes a decimal and null becomes unit. An object becomes the kind of value that its fields denote,
 * ignoring extra fields; otherwise it stays an object.
 * @throws FormatError if a number is no valid decimal or the nesting exceeds 250 levels
 */
export function valueFromJson(json: ExactJson): Value {
  return readAt(json, 0)
}

function readAt(json: ExactJson, depth: number): Value {
  if (json === null) return UNIT
  if (typeof json === 'string' || typeof json === 'boolean') return json
  const number = numberOf(json)
  if (number !== null) return number.normalise()
  if (depth >= MAX_DEPTH) throw new FormatError('value', 0, `more than ${MAX_DEPTH} levels`)
  const read: ReadValue = (item) => readAt(item, depth + 1)
  if (Array.isArray(json)) return json.map(read)
  const object = json as JsonObject
  return (
    scalarFromFields(object) ??
    guardFromFields(object, read) ??
    referenceFromFields(object, read) ??
    new Map(Object.entries(object).map(([field, item]) => [field, read(item)]))
  )
}

/** @returns the number exactly as written, or null if the JSON is not a number */
function numberOf(json: ExactJson): Decimal | null {
  if (typeof json === 'bigint') return Decimal.of(json)
  if (typeof json !== 'number' && !(json instanceof NumberText)) return null
  const number = Decimal.parse(json instanceof NumberText ? json.text : String(json))
  if (number === null) throw new FormatError('value', 0, 'a number that is no decimal of up to 255 places')
  return number
}

/** `{"int": ..}`, `{"decimal": ".."}`, `{"time": ".."}`, `{"timep": ".."}` */
function scalarFromFields(object: JsonObject): Value | null {
  if (Object.hasOwn(object, 'int')) {
    const { int } = object
    if (typeof int === 'string' && INTEGER.test(int)) return BigInt(int)
    const number = numberOf(int)
    if (number !== null) return number.round(0).mantissa
  }
  if (typeof own(object, 'decimal') === 'string') {
    const decimal = Decimal.parse(object.decimal as string)
    if (decimal !== null) return decimal
  }
  for (const [field, format] of [['time', ISO_SECONDS] as const, ['timep', ISO_MICROS] as const]) {
    const text = own(object, field)
    const time = typeof text === 'string' ? parseTime(format, text) : null
    if (time !== null) return time
  }
  return null
}

/** `{"refSpec": [..], "refName": ..}` and `{"#ctName": "..", "#ctArgs": [..]}` */
function referenceFromFields(object: JsonObject, read: ReadValue): Value | null {
  const name = moduleFromJson(own(object, 'refName'))
  const spec = own(object, 'refSpec') ?? []
  if (name !== null && Array.isArray(spec)) {
    const interfaces = spec.map(moduleFromJson)
    if (!interfaces.includes(null)) return new ModuleRef(name, interfaces as string[])
  }
  const [token, args] = [own(object, '#ctName'), own(object, '#ctArgs')]
  return typeof token === 'string' && Array.isArray(args) ? new CapabilityToken(token, args.map(read)) : null
}

/** Reads an own property, never an inherited one. */
function own(object: JsonObject, key: string): ExactJson | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
