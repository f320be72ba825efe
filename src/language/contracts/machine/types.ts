/** Types of the language: run-time checks of declared ones, and one function for each way to print one. */
import { failure } from '../failures/failure.ts'
import type { TypeForm } from '../syntax/form.ts'
import { Decimal } from '../values/decimal.ts'
import { CapabilityToken, Guard, ModuleRef, type RowSchema, TableRef, Time, type Type, Unit } from '../values/value.ts'
import { Callable, type Term } from './term.ts'

/** Charges for inspecting a number of parts of a value. */
type ChargeParts = (parts: number) => void

/** True if a term is of a type. */
export function isOfType(type: Type, term: Term, pay: ChargeParts): boolean {
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
      return term.every((each) => isOfType(item, each, pay))
    }
    case 'object':
      return term instanceof Map && (type.schema === null || matchesSchema(type.schema, term, pay))
    case 'table':
      return term instanceof TableRef && (type.schema === null || haveSameFields(type.schema, term.schema, pay))
    case 'module':
      return term instanceof ModuleRef && implementsAll(term, type.interfaces, pay)
  }
}

/** A module of ten or more interfaces costs by their number. */
const FREE_INTERFACES = 10

function implementsAll({ interfaces }: ModuleRef, wanted: readonly string[], pay: ChargeParts): boolean {
  if (interfaces.length < FREE_INTERFACES) return wanted.every((name) => interfaces.includes(name))
  pay(interfaces.length)
  const all = new Set(interfaces)
  return wanted.every((name) => all.has(name))
}

/** True if an object has exactly the fields of a schema, with values of the right types. */
function matchesSchema({ fields }: RowSchema, object: ReadonlyMap<string, Term>, pay: ChargeParts): boolean {
  if (fields.size !== object.size) return false
  pay(fields.size)
  for (const [name, type] of fields) {
    const value = object.get(name)
    if (value === undefined || (type !== null && !isOfType(type, value, pay))) return false
  }
  return true
}

/** True if two schemas have the same fields of the same types. Their names may differ. */
function haveSameFields(one: RowSchema, other: RowSchema | null, pay: ChargeParts): boolean {
  if (one.fields.size !== other?.fields.size) return false
  pay(one.fields.size)
  for (const [name, type] of one.fields) {
    const found = other.fields.get(name)
    if (found === undefined || !isSameShape(type ?? ANY, found ?? ANY, pay)) return false
  }
  return true
}

const ANY: Type = { type: 'any' }

function isSameShape(one: Type, other: Type, pay: ChargeParts): boolean {
  if (one.type === 'list' && other.type === 'list') {
    if (one.item === null || other.item === null) return one.item === other.item
    return isSameShape(one.item, other.item, pay)
  }
  if ((one.type === 'object' && other.type === 'object') || (one.type === 'table' && other.type === 'table')) {
    if (one.schema === null || other.schema === null) return one.schema === other.schema
    return haveSameFields(one.schema, other.schema, pay)
  }
  return typeIdentity(one) === typeIdentity(other)
}

/** @throws EvalError if the term is not of the declared type */
export function checkType(type: Type | null, term: Term, pay: ChargeParts): void {
  if (type === null || isOfType(type, term, pay)) return
  throw failure('TYPE_MISMATCH', {
    found: argumentTypeName(term),
    shortType: declaredTypeInShort(type),
    declaredType: () => declaredTypeInFull(type),
  })
}

/** True if two declared types are the same; for checks of interfaces. */
export function isSameType(one: Type | null, other: Type | null): boolean {
  return one === null || other === null ? one === other : typeIdentity(one) === typeIdentity(other)
}

/** Type of a term for messages: `integer`, `list`, `closure`, ... A list does not name the type of its items. */
export function typeName(term: Term): string {
  if (typeof term === 'string') return 'string'
  if (typeof term === 'bigint') return 'integer'
  if (typeof term === 'boolean') return 'bool'
  if (term instanceof Decimal) return 'decimal'
  if (Array.isArray(term)) return 'list'
  if (term instanceof Map) return 'object'
  if (term instanceof Time) return 'time'
  if (term instanceof Guard) return 'guard'
  if (term instanceof ModuleRef) return 'module'
  if (term instanceof Unit) return 'unit'
  if (term instanceof CapabilityToken) return 'cap-token'
  if (term instanceof TableRef) return 'table'
  return term instanceof Callable ? 'closure' : 'unknown'
}

/** Type of an argument: as typeName(), but a reference to a module is a `modref`, a capability token a `closure`. */
export function argumentTypeName(term: Term): string {
  if (term instanceof ModuleRef) return 'modref'
  return term instanceof CapabilityToken ? 'closure' : typeName(term)
}

/** Declared type in a message, without its parts. */
function declaredTypeInShort(type: Type): string {
  switch (type.type) {
    case 'module':
      return 'modref'
    case 'keyset':
      return 'guard'
    case 'any':
      return 'object'
    default:
      return type.type
  }
}

/** Declared type in a message, with its parts and qualified names. */
function declaredTypeInFull(type: Type): string {
  switch (type.type) {
    case 'list':
      return type.item === null || type.item.type === 'any' ? 'list' : `list ${itemType(type.item)}`
    case 'object':
    case 'table':
      return type.schema === null ? type.type : `${type.type}{${type.schema.qualified}}`
    case 'module':
      return `module{${[...new Set(type.interfaces)].sort().join(', ')}}`
    case 'keyset':
      return 'guard'
    case 'any':
      return '*'
    default:
      return type.type
  }
}

function itemType(type: Type): string {
  const text = declaredTypeInFull(type)
  return type.type === 'list' || type.type === 'object' || type.type === 'table' || type.type === 'module'
    ? `(${text})`
    : text
}

/** Source of a declared type, with names as its module has them. */
export function typeSource(type: Type): string {
  return writtenType(type, 'name')
}

/** Source with qualified names, the same for the same type. */
function typeIdentity(type: Type): string {
  return writtenType(type, 'qualified')
}

function writtenType(type: Type, naming: 'name' | 'qualified'): string {
  switch (type.type) {
    case 'list':
      return type.item === null ? 'list' : `[${writtenType(type.item, naming)}]`
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

/** Source of a type as code has it: `[string]`, `object{account}`, `module{fungible-v2}`, `integer`, ... */
export function typeFormSource(type: TypeForm): string {
  switch (type.type) {
    case 'list':
      return type.item === null ? 'list' : `[${typeFormSource(type.item)}]`
    case 'object':
    case 'table':
      return type.schema === null ? type.type : `${type.type}{${type.schema}}`
    case 'module':
      return `module{${type.interfaces.join(', ')}}`
    default:
      return type.type
  }
}
