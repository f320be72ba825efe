/** Rows that a user gives as JSON, checked against the schema of their table. */
import { domainOfRows, type Module, TableDefinition } from '../../contracts/machine/ast.ts'
import { shownType } from '../../contracts/machine/declared-type.ts'
import { splitName } from '../../contracts/machine/names.ts'
import type { LayerEntry, ReadableState } from '../../contracts/machine/state.ts'
import { isOf } from '../../contracts/machine/types.ts'
import { Decimal } from '../../contracts/values/decimal.ts'
import { ISO_MICROS, ISO_SECONDS, parseTime } from '../../contracts/values/time-text.ts'
import type { Type } from '../../contracts/values/type.ts'
import type { ObjectValue, Time, Value } from '../../contracts/values/value.ts'
import { valueFromJson } from '../../contracts/values/wire.ts'
import { FormatError } from '../../core/errors.ts'
import type { ExactJson } from '../../core/json.ts'

/** A row that its table cannot have. */
export class RowFault extends Error {}

const free = () => undefined

/**
 * Reads fields of a row. Other fields of an existing row stay.
 * @throws RowFault if there is no such table, or the row does not fit its schema
 */
export function givenRow(
  state: ReadableState,
  { table: name, key, fields }: { readonly table: string; readonly key: string; readonly fields: ExactJson },
): LayerEntry {
  const table = tableIn(state, name)
  const domain = domainOfRows(table)
  const where = `row ${JSON.stringify(key)} of ${name}`
  const before = state.get<ObjectValue>(domain, key)
  const row = new Map<string, Value>(before)
  for (const [field, json] of Object.entries(fields as Readonly<Record<string, ExactJson>>)) {
    row.set(field, fieldValue(table, field, json, where))
  }
  const missing = [...(table.schema?.fields.keys() ?? [])].find((field) => !row.has(field))
  if (missing === undefined) return { domain, key, value: row }
  throw new RowFault(`${where}: the field ${missing} is missing, and there is no such row yet`)
}

function tableIn(state: ReadableState, name: string): TableDefinition {
  const parts = splitName(name)
  if (parts === null) throw new RowFault(`${name} is no table: its name is module.table`)
  const module = state.get<Module>('modules', parts.module)
  if (module === undefined) throw new RowFault(`there is no module ${parts.module}`)
  const table = module.definitions.get(parts.member)
  if (!(table instanceof TableDefinition)) {
    const tables = [...module.definitions.values()].filter((each) => each instanceof TableDefinition)
    const known = tables.length === 0 ? 'it has none' : `it has ${tables.map((each) => each.name).join(', ')}`
    throw new RowFault(`the module ${parts.module} has no table ${parts.member}: ${known}`)
  }
  if (state.get('tables', table.qualified) !== undefined) return table
  throw new RowFault(`the table ${name} was not created`)
}

function fieldValue({ schema }: TableDefinition, field: string, json: ExactJson, where: string): Value {
  const type = schema?.fields.get(field)
  if (schema !== null && type === undefined) {
    throw new RowFault(`${where}: there is no field ${field}, only ${[...schema.fields.keys()].join(', ')}`)
  }
  const value = readAs(type ?? null, json, `${where}, field ${field}`)
  if (type == null || isOf(type, value, free)) return value
  const given = JSON.stringify(json, (_, item) => (typeof item === 'bigint' ? Number(item) : item))
  throw new RowFault(`${where}, field ${field}: ${article(shownType(type))} is expected, not ${given.slice(0, 80)}`)
}

/** A value in the JSON of nodes. Whole numbers may be integers, and texts may be times. */
function readAs(type: Type | null, json: ExactJson, where: string): Value {
  try {
    const value = valueFromJson(json)
    if (type?.type === 'integer' && value instanceof Decimal && value.isWhole()) return value.round(0).mantissa
    if (type?.type === 'time' && typeof value === 'string') return timeIn(value) ?? value
    return value
  } catch (error) {
    if (error instanceof FormatError) throw new RowFault(`${where}: ${error.message}`)
    throw error
  }
}

/** A time such as 2027-01-01T00:00:00Z, with or without a fraction of the second. */
export function timeIn(text: string): Time | null {
  return parseTime(ISO_SECONDS, text) ?? parseTime(ISO_MICROS, text)
}

const article = (noun: string) => (/^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`)
