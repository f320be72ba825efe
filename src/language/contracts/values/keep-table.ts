/** Lossless JSON encoding of tables with their schemas. */
import { type RowSchema, TableRef, type Type } from './value.ts'

/** Types encode as their names, and as an object if they have parts. Schemas are given by their number. */
type StoredType =
  | Exclude<Type, { readonly item: unknown } | { readonly schema: unknown } | { readonly interfaces: unknown }>['type']
  | { readonly list: StoredType | null }
  | { readonly object: number | null }
  | { readonly table: number | null }
  | { readonly module: readonly string[] }

interface StoredSchema {
  readonly name: string
  readonly fields: readonly (readonly [field: string, type: StoredType | null])[]
}

/** Each schema is encoded once, after those that it uses. The last one is that of the table. */
export type StoredTable = readonly [module: string, name: string, hash: string, schemas: readonly StoredSchema[]]

/** Encodes a table; `decodeStoredTable` decodes it. */
export function encodeStoredTable({ module, name, hash, schema }: TableRef): StoredTable {
  const schemas: StoredSchema[] = []
  const numbers = new Map<RowSchema, number>()
  const numberOf = (each: RowSchema): number => {
    const known = numbers.get(each)
    if (known !== undefined) return known
    const fields = [...each.fields].map(([field, type]) => [field, type && encodeStoredType(type, numberOf)] as const)
    const number = schemas.push({ name: each.qualified, fields }) - 1
    numbers.set(each, number)
    return number
  }
  if (schema !== null) numberOf(schema)
  return [module, name, hash, schemas]
}

function encodeStoredType(type: Type, numberOf: (schema: RowSchema) => number): StoredType {
  switch (type.type) {
    case 'list':
      return { list: type.item && encodeStoredType(type.item, numberOf) }
    case 'object':
      return { object: type.schema && numberOf(type.schema) }
    case 'table':
      return { table: type.schema && numberOf(type.schema) }
    case 'module':
      return { module: type.interfaces }
    default:
      return type.type
  }
}

/** Decodes the result of `encodeStoredTable`. */
export function decodeStoredTable([module, name, hash, kept]: StoredTable): TableRef {
  const schemas: RowSchema[] = []
  for (const each of kept) {
    const fields = new Map(each.fields.map(([field, type]) => [field, type && decodeStoredType(type, schemas)]))
    schemas.push({ name: each.name.slice(each.name.lastIndexOf('.') + 1), qualified: each.name, fields })
  }
  return new TableRef(module, name, { hash }, schemas.at(-1) ?? null)
}

function decodeStoredType(kept: StoredType, schemas: readonly RowSchema[]): Type {
  if (typeof kept === 'string') return { type: kept }
  if ('list' in kept) return { type: 'list', item: kept.list && decodeStoredType(kept.list, schemas) }
  if ('module' in kept) return { type: 'module', interfaces: kept.module }
  if ('object' in kept) return { type: 'object', schema: kept.object === null ? null : schemas[kept.object] }
  return { type: 'table', schema: kept.table === null ? null : schemas[kept.table] }
}
