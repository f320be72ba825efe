/** Declared types and their run-time checks. */
import { evalError } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { Guard, ModuleRef, Time, Unit } from '../values/value.ts'
import type { Schema, Type } from './ast.ts'
import { TableRef, type Term } from './term.ts'
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
      return term instanceof TableRef
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

/** @throws EvalError if the term is not of the declared type */
export function checkType(type: Type | null, term: Term, pay: Pay): void {
  if (type === null || isOf(type, term, pay)) return
  throw evalError(`Type check failed. The argument is ${typeName(term)}, but the expected type is ${typeText(type)}`)
}

/** Source form of a type. */
export function typeText(type: Type): string {
  switch (type.type) {
    case 'list':
      return type.item === null ? 'list' : `[${typeText(type.item)}]`
    case 'object':
    case 'table':
      return type.schema === null ? type.type : `${type.type}{${type.schema.name}}`
    case 'module':
      return `module{${type.interfaces.join(', ')}}`
    default:
      return type.type
  }
}

/** True if two declared types are the same; for checks of interfaces. */
export function isSameType(one: Type | null, other: Type | null): boolean {
  return one === null || other === null ? one === other : typeText(one) === typeText(other)
}
