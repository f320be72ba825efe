/** Declared types and their run-time checks. */
import { evalError } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { Guard, ModuleRef, TableRef, Time, Unit } from '../values/value.ts'
import { type Schema, TableDefinition, type Type } from './ast.ts'
import type { Term } from './term.ts'
import { typeName } from './type-name.ts'

/** Charges for inspecting a number of parts of a value. */
type Pay = (parts: number) => void

/** True if a term is of a type. */
export function isOf(type: Type, term: Term, pay: Pay): boolean {
  switch (type.type) {
    case 'string':
      return typeof term === 'string'
    case 'integer':
      return typeof term === 'bigint'
    case 'decimal':
      return term instanceof Decimal
    case 'bool':
      return typeof term === 'boolean'
    case 'time':
      return term instanceof Time
    case 'guard':
      return term instanceof Guard
    case 'keyset':
      return term instanceof Guard
    case 'unit':
      return term instanceof Unit
    case 'any':
      return true
    case 'list': {
      const { item } = type
      if (!Array.isArray(term) || item === null) return Array.isArray(term)
      pay(term.length)
      return term.every((each) => isOf(item, each, pay))
    }
    case 'object':
      return term instanceof Map && (type.schema === null || fits(type.schema, term, pay))
    case 'table':
      return term instanceof TableRef && (type.schema === null || isTableOf(type.schema, term, pay))
    case 'module':
      return term instanceof ModuleRef && type.interfaces.every((name) => term.interfaces.includes(name))
  }
}

/** True if an object has exactly the fields of a schema, with values of the right types. */
function fits({ fields }: Schema, object: ReadonlyMap<string, Term>, pay: Pay): boolean {
  if (fields.size !== object.size) return false
  pay(fields.size)
  for (const [name, type] of fields) {
    const value = object.get(name)
    if (value === undefined || (type !== null && !isOf(type, value, pay))) return false
  }
  return true
}

/** A table that was read from the disk is known by the name of its schema only. */
function isTableOf(schema: Schema, table: TableRef, pay: Pay): boolean {
  if (table instanceof TableDefinition) return alike(schema, table.schema, pay)
  return schema.qualified === table.schemaName
}

/** True if two schemas have the same fields of the same types. Their names may differ. */
function alike(one: Schema, other: Schema | null, pay: Pay): boolean {
  if (one.fields.size !== other?.fields.size) return false
  pay(one.fields.size)
  for (const [name, type] of one.fields) {
    const found = other.fields.get(name)
    if (found === undefined || !sameType(type ?? ANY, found ?? ANY, pay)) return false
  }
  return true
}

const ANY: Type = { type: 'any' }

function sameType(one: Type, other: Type, pay: Pay): boolean {
  if (one.type === 'list' && other.type === 'list') {
    if (one.item === null || other.item === null) return one.item === other.item
    return sameType(one.item, other.item, pay)
  }
  if ((one.type === 'object' && other.type === 'object') || (one.type === 'table' && other.type === 'table')) {
    if (one.schema === null || other.schema === null) return one.schema === other.schema
    return alike(one.schema, other.schema, pay)
  }
  return fullText(one) === fullText(other)
}

/** @throws EvalError if the term is not of the declared type */
export function checkType(type: Type | null, term: Term, pay: Pay): void {
  if (type === null || isOf(type, term, pay)) return
  const [found, wanted] = [typeName(term), typeText(type)]
  throw evalError(
    `Runtime typecheck failure, argument is ${found} , but expected type ${wanted}`,
    null,
    `Type check failed. The argument is ${found}, but the expected type is ${wanted}`,
  )
}

/** Source form of a type. */
export function typeText(type: Type): string {
  return textOf(type, 'name')
}

/** Source form with qualified names, the same for the same type. */
function fullText(type: Type): string {
  return textOf(type, 'qualified')
}

function textOf(type: Type, naming: 'name' | 'qualified'): string {
  switch (type.type) {
    case 'list':
      return type.item === null ? 'list' : `[${textOf(type.item, naming)}]`
    case 'object':
    case 'table':
      return type.schema === null ? type.type : `${type.type}{${type.schema[naming]}}`
    case 'module': {
      const names = naming === 'name' ? type.interfaces : [...new Set(type.interfaces)].sort()
      return `module{${names.join(', ')}}`
    }
    case 'keyset':
      // The public network knows one type of guards.
      return naming === 'name' ? 'keyset' : 'guard'
    default:
      return type.type
  }
}

/** True if two declared types are the same; for checks of interfaces. */
export function isSameType(one: Type | null, other: Type | null): boolean {
  return one === null || other === null ? one === other : fullText(one) === fullText(other)
}
