/** Rows of a table from JSON, by the schema of the table; and values as JSON text that code reads back unchanged. */

import { describeError, FormatError } from '#ground/base/errors.ts'
import { type ExactJson, isJsonObject } from '#ground/base/json.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { isOfType, typeSource } from '#language/contracts/machine/types.ts'
import { equalValues } from '#language/contracts/values/compare.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import { ISO_MICROS, ISO_SECONDS, isoMicros, parseTime } from '#language/contracts/values/time-text.ts'
import { type RowSchema, type TableRef, Time, type Type, type Value } from '#language/contracts/values/value.ts'
import { valueFromJson, valueToJson } from '#language/contracts/values/wire.ts'

/** Maximum characters of a wrong value that a refusal repeats. */
const MAX_SHOWN = 80

/** A row that does not fit its table. The message begins with the place in the order. */
export class InvalidRow extends Error {}

/**
 * Reads the fields of a row. Numbers may be JSON numbers, and times texts such as `2027-01-01T00:00:00Z`.
 * @param at place in the order, such as `/rows/alice`
 * @throws InvalidRow for a field that the schema does not have, and for a value of another type
 */
export function rowFromJson(table: TableRef, row: Readonly<Record<string, unknown>>, at: string): Map<string, Value> {
  const { schema } = table
  const read = Object.entries(row).map(([field, json]): [string, Value] => {
    const place = `${at}/${field}`
    const type = schema?.fields.get(field)
    if (schema !== null && type === undefined)
      throw new InvalidRow(`${place}: no such field; ${fieldsText(table)}${suggestName(field, schema.fields.keys())}`)
    return [field, typedFromJson(type ?? null, json as ExactJson, place)]
  })
  return new Map(read)
}

/**
 * @param at place in the order
 * @throws InvalidRow if a row lacks fields
 */
export function expectComplete(table: TableRef, row: ReadonlyMap<string, Value>, at: string): void {
  const missing = [...(table.schema?.fields.keys() ?? [])].filter((field) => !row.has(field))
  if (missing.length === 0) return
  throw new InvalidRow(`${at}: a new row needs all fields, and has no ${missing.join(', ')}; ${fieldsText(table)}`)
}

function fieldsText({ qualified, schema }: TableRef): string {
  const fields = [...(schema?.fields ?? [])].map(([name, type]) =>
    type === null ? name : `${name}:${typeSource(type)}`,
  )
  return `rows of ${qualified} have ${fields.join(' ')}`
}

function typedFromJson(type: Type | null, json: ExactJson, at: string): Value {
  let value: Value
  try {
    value = byType(type, json, at)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new InvalidRow(`${at}: ${describeError(error)}`)
  }
  if (type !== null && !isOfType(type, value, () => undefined)) {
    throw new InvalidRow(
      `${at}: ${JSON.stringify(json).slice(0, MAX_SHOWN)} is not of type ${typeSource(type)}${hint(type)}`,
    )
  }
  return value
}

function byType(type: Type | null, json: ExactJson, at: string): Value {
  if (type?.type === 'list' && Array.isArray(json)) {
    return json.map((item, i) => typedFromJson(type.item, item, `${at}/${i}`))
  }
  if (type?.type === 'object' && type.schema !== null && isJsonObject(json)) {
    return objectFromJson(type.schema, json, at)
  }
  const value = valueFromJson(json)
  if (type?.type === 'integer' && value instanceof Decimal) return integerIn(value)
  if (type?.type === 'time' && typeof json === 'string') {
    return isoTime(json) ?? value
  }
  return value
}

function objectFromJson({ fields }: RowSchema, json: Readonly<Record<string, ExactJson>>, at: string): Value {
  return new Map(
    Object.entries(json).map(([name, item]) => [name, typedFromJson(fields.get(name) ?? null, item, `${at}/${name}`)]),
  )
}

/** A time such as 2027-01-01T00:00:00Z, with or without a fraction of the second. */
export function isoTime(text: string): Time | null {
  return parseTime(ISO_SECONDS, text) ?? parseTime(ISO_MICROS, text)
}

/** A whole number as an integer. Others stay what they are. */
function integerIn(value: Decimal): Value {
  const { mantissa, places } = value.normalise()
  return places === 0 ? mantissa : value
}

function hint({ type }: Type): string {
  if (type === 'guard' || type === 'keyset') return ', such as {"pred":"keys-all","keys":["KEY"]}'
  return type === 'time' ? ', such as "2027-01-01T00:00:00Z"' : ''
}

/**
 * JSON text from which `read-msg` makes the same value.
 * @throws InvalidRow for an object whose fields mean another kind of value in JSON
 */
export function readableJson(value: Value, at: string): string {
  const text = exactText(value)
  if (equalValues(valueFromJson(JSON.parse(text) as ExactJson), value)) return text
  throw new InvalidRow(`${at}: an object of these fields means another kind of value in JSON, so it cannot be written`)
}

function exactText(value: Value): string {
  if (typeof value === 'bigint') return `{"int":"${value}"}`
  if (value instanceof Decimal) return `{"decimal":"${value}"}`
  if (value instanceof Time) return `{"timep":"${isoMicros(value)}"}`
  if (Array.isArray(value)) return `[${value.map(exactText).join(',')}]`
  if (!(value instanceof Map)) return valueToJson(value)
  const fields = [...(value as ReadonlyMap<string, Value>)]
  return `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${exactText(item)}`).join(',')}}`
}
