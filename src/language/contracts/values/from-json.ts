/** Decodes values from JSON: command data, rows, arguments of capabilities. */
import { FormatError } from '#ground/base/errors.ts'
import { type ExactJson, NumberText } from '#ground/base/json.ts'
import { bitLength, MAX_BITS, MAX_DIGITS } from './bits.ts'
import { Decimal } from './decimal.ts'
import { guardFromFields, moduleFromJson } from './guard-json.ts'
import { ISO_MICROS, ISO_SECONDS, parseTime } from './time-text.ts'
import { CapabilityToken, Guard, ModuleRef, UNIT, type Value } from './value.ts'

/** Maximum nesting of arrays and objects, so that recursion stays within the stack. Values in code have the same limit. */
const MAX_DEPTH = 250
/** Integers as strings, at most 10,000 digits: longer ones take too long to parse. */
const INTEGER = /^-?\d{1,10000}$/

/**
 * Maximum characters of a name of a field, a module or a guard, and of a key of a keyset. Names cost no gas, so longer
 * ones would let a command fill the memory.
 */
export const MAX_NAME = 65_536
const SHOWN = 20

type JsonObject = { readonly [key: string]: ExactJson }
/** Decodes a nested value. */
export type ReadValue = (json: ExactJson) => Value

/**
 * Decodes a value. Pass JSON from `parseExactJson` if fractions must be exact.
 *
 * A number becomes a decimal and null becomes unit. An object becomes the kind of value that its fields denote,
 * ignoring extra fields; otherwise it stays an object.
 * @throws FormatError if a number is not a valid decimal or too large, a name or key is too long, or the nesting exceeds
 * 250 levels
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
    referenceFrom(object, read) ??
    new Map(Object.entries(object).map(([field, item]) => [checkName(field), read(item)]))
  )
}

/** Guards, module references and tokens. */
function referenceFrom(object: JsonObject, read: ReadValue): Guard | ModuleRef | CapabilityToken | null {
  const found = guardFromFields(object, read) ?? referenceFromFields(object, read)
  return found === null ? null : withShortNames(found)
}

/**
 * @returns the number exactly as written, or null if the JSON is not a number
 * @throws FormatError if it is not a decimal, or exceeds the largest number of the language
 */
function numberOf(json: ExactJson): Decimal | null {
  if (typeof json === 'bigint') return inRange(Decimal.of(json))
  if (typeof json !== 'number' && !(json instanceof NumberText)) return null
  const text = json instanceof NumberText ? json.text : String(json)
  if (text.length > MAX_DIGITS) throw tooLarge()
  const number = Decimal.parse(text)
  if (number === null) throw new FormatError('value', 0, 'a number that is not a decimal of up to 255 places')
  return inRange(number)
}

function inRange(number: Decimal): Decimal {
  if (bitLength(number.mantissa) > MAX_BITS) throw tooLarge()
  return number
}

function tooLarge(): FormatError {
  return new FormatError('value', 0, `a number of more than ${MAX_BITS} bits`)
}

/** @throws FormatError if a name or a key is too long */
function checkName(name: string): string {
  if (name.length <= MAX_NAME) return name
  throw new FormatError('value', 0, `a name or key of more than ${MAX_NAME} characters: ${name.slice(0, SHOWN)}..`)
}

/** Refuses names and keys that are too long; lists of arguments are values, which have been read. */
function withShortNames<V extends Guard | ModuleRef | CapabilityToken>(value: V): V {
  const parts: Readonly<Record<string, unknown>> = value instanceof Guard ? { ...value.is } : { ...value }
  for (const [part, text] of Object.entries(parts)) {
    if (typeof text === 'string') checkName(text)
    else if (part !== 'args' && Array.isArray(text)) text.forEach(checkName)
  }
  return value
}

/** `{"int": ..}`, `{"decimal": ".."}`, `{"time": ".."}`, `{"timep": ".."}` */
function scalarFromFields(object: JsonObject): Value | null {
  if (Object.hasOwn(object, 'int')) {
    const { int } = object
    if (typeof int === 'string' && INTEGER.test(int)) return BigInt(int)
    const number = numberOf(int)
    if (number !== null) return number.round(0).mantissa
  }
  const text = ownProperty(object, 'decimal')
  if (typeof text === 'string') {
    if (text.length > MAX_DIGITS) throw tooLarge()
    const decimal = Decimal.parse(text)
    if (decimal !== null) return inRange(decimal)
  }
  for (const [field, format] of [['time', ISO_SECONDS] as const, ['timep', ISO_MICROS] as const]) {
    const written = ownProperty(object, field)
    const time = typeof written === 'string' ? parseTime(format, written) : null
    if (time !== null) return time
  }
  return null
}

/** `{"refSpec": [..], "refName": ..}` and `{"#ctName": "..", "#ctArgs": [..]}` */
function referenceFromFields(object: JsonObject, read: ReadValue): ModuleRef | CapabilityToken | null {
  const name = moduleFromJson(ownProperty(object, 'refName'))
  const spec = ownProperty(object, 'refSpec') ?? []
  if (name !== null && Array.isArray(spec)) {
    const interfaces = spec.map(moduleFromJson)
    if (!interfaces.includes(null)) return new ModuleRef(name, interfaces as string[])
  }
  const [token, args] = [ownProperty(object, '#ctName'), ownProperty(object, '#ctArgs')]
  return typeof token === 'string' && Array.isArray(args) ? new CapabilityToken(token, args.map(read)) : null
}

/** Reads an own property, never an inherited one. */
function ownProperty(object: JsonObject, key: string): ExactJson | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
