/**
 * Sizes of resolved modules in bytes, as the network estimates them to charge for loading. They depend on what stands
 * for a source place and for a native, so a size is kept in parts.
 */

import { integerSize, predicateSize, qualifiedNameSize, textSize } from '../../../values/charged-size.ts'
import { Decimal } from '../../../values/decimal.ts'
import {
  CapabilityToken,
  Guard,
  type GuardKind,
  ModuleRef,
  type RowSchema,
  type TableRef,
  Time,
  type Type,
  Unit,
  type Value,
} from '../../../values/value.ts'
import { isLiteral, type Literal, type ModuleName, moduleNameOf } from './terms.ts'

/** Length of a text or of bytes, besides its content. */
const LENGTH = 4
/** Head of a list, set, map or vector. */
export const LIST = 5
/** Head of a type with one constructor, and of one with several. */
export const [ONE, SEVERAL] = [1, 2]
export const [INT, WORD64, TIME] = [5, 9, 8]
const [WORD8, BOOL, PRIMITIVE] = [1, 1, 1]
const HASH_BYTES = 32

/** Size of the hash of a module that has one. */
export const HASH = LENGTH + HASH_BYTES

/** Size of a hash in base64url. Hashes of commands in tests may be any text. */
export function hashSize(hash: string): number {
  return LENGTH + Math.floor((hash.length * 3) / 4)
}

export function maybeSize<T>(value: T | null, sizeOf: (value: T) => number): number {
  return SEVERAL + (value === null ? 0 : sizeOf(value))
}

export function listSize<T>(items: Iterable<T>, sizeOf: (item: T) => number): number {
  let size = LIST
  for (const item of items) size += sizeOf(item)
  return size
}

export function moduleNameSize({ name, namespace }: ModuleName): number {
  return ONE + textSize(name) + maybeSize(namespace, textSize)
}

/** Size of a keyset name: `name` or `namespace.name`. */
export function keysetNameSize(name: string): number {
  return moduleNameSize(moduleNameOf(name))
}

/** Schemas are complete once their module is loaded, and name other schemas: the tree can be exponentially large. */
const schemaSizes = new WeakMap<RowSchema, number>()

export function schemaSize(schema: RowSchema): number {
  const known = schemaSizes.get(schema)
  if (known !== undefined) return known
  const size = ONE + qualifiedNameSize(schema.qualified) + fieldsSize(schema.fields)
  schemaSizes.set(schema, size)
  return size
}

export function fieldsSize(fields: ReadonlyMap<string, Type | null>): number {
  return listSize(fields, ([name, type]) => ONE + textSize(name) + typeSize(type ?? { type: 'any' }))
}

export function typeSize(type: Type): number {
  switch (type.type) {
    case 'any':
      return SEVERAL
    case 'list':
      return SEVERAL + (type.item === null ? 0 : typeSize(type.item))
    case 'object':
    case 'table':
      return SEVERAL + (type.schema === null ? 0 : schemaSize(type.schema))
    case 'module':
      return SEVERAL + listSize(new Set(type.interfaces), (name) => moduleNameSize(moduleNameOf(name)))
    default:
      return SEVERAL + PRIMITIVE
  }
}

export function literalSize(value: Literal): number {
  if (typeof value === 'string') return SEVERAL + textSize(value)
  if (typeof value === 'bigint') return SEVERAL + integerSize(value)
  if (value instanceof Decimal) return SEVERAL + ONE + WORD8 + integerSize(value.mantissa)
  return SEVERAL + (value instanceof Unit ? 0 : BOOL)
}

/**
 * Size of the value of a constant.
 * @param ownHash called for each hash of a module within it, with the name of the module
 * @returns the size without these hashes
 */
export function valueSize(value: Value, ownHash: (module: string) => void): number {
  const sizeOf = (item: Value) => valueSize(item, ownHash)
  if (isLiteral(value)) return SEVERAL + literalSize(value)
  if (Array.isArray(value)) return SEVERAL + listSize(value as readonly Value[], sizeOf)
  if (value instanceof Guard) return SEVERAL + SEVERAL + guardSize(value.is, sizeOf)
  if (value instanceof Map) {
    const entries = value as ReadonlyMap<string, Value>
    return SEVERAL + listSize(entries, ([name, item]) => ONE + textSize(name) + sizeOf(item))
  }
  if (value instanceof ModuleRef) {
    const interfaces = listSize(new Set(value.interfaces), (name) => moduleNameSize(moduleNameOf(name)))
    return SEVERAL + ONE + moduleNameSize(moduleNameOf(value.name)) + interfaces
  }
  if (value instanceof CapabilityToken) {
    ownHash(value.name.slice(0, value.name.lastIndexOf('.')))
    return SEVERAL + ONE + qualifiedNameSize(value.name) + listSize(value.args, sizeOf)
  }
  if (value instanceof Time) return SEVERAL + TIME
  const table = value as TableRef
  ownHash(table.module)
  return SEVERAL + ONE + qualifiedNameSize(table.qualified) + (table.schema === null ? 0 : schemaSize(table.schema))
}

function guardSize(is: GuardKind, sizeOf: (value: Value) => number): number {
  switch (is.kind) {
    case 'keyset':
      return ONE + listSize(new Set(is.keys), textSize) + predicateSize(is.predicate)
    case 'keysetRef':
      return keysetNameSize(is.name)
    case 'user':
      return ONE + qualifiedNameSize(is.fun) + listSize(is.args, sizeOf)
    case 'capability':
      return ONE + qualifiedNameSize(is.name) + listSize(is.args, sizeOf) + maybeSize(is.pactId, textSize)
    case 'module':
      return ONE + moduleNameSize(moduleNameOf(is.module)) + textSize(is.name)
    case 'pact':
      return ONE + textSize(is.pactId) + textSize(is.name)
  }
}
