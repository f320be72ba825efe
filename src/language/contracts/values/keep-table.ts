/** Lossless JSON encoding of tables with their schemas. */
import { type RowSchema, TableRef, type Type } from './value.ts'

/** Types encode as their names, and as an object if they have parts. Schemas are given by their number. */
type KeptType =
  | Exclude<Type, { readonly item: unknown } | { readonly schema: unknown } | { readonly interfaces: unknown }>['type']
  | { readonly list: KeptType | null }
  | { readonly object: number | null }
  | { readonly table: number | null }
  | { readonly module: readonly string[] }

interface KeptSchema {
  readonly name: string
  readonly fields: readonly (readonly [field: string, type: KeptType | null])[]
}

/** Each schema is encoded once, behind those that it uses. The last one is that of the table. */
export type KeptTable = readonly [module: string, name: string, hash: string, schemas: readonly KeptSchema[]]

/** Encodes a table; `keptTable` decodes it. */
export function keepTable({ module, name, hash, schema }: TableRef): KeptTable {
  const schemas: KeptSchema[] = []
  const numbers = new Map<RowSchema, number>()
  const numberOf = (each: RowSchema): number => {
    const known = numbers.get(each)
    if (known !== undefined) return known
    const fields = [...each.fields].map(([field, type]) => [field, type && keepType(type, numberOf)] as const)
    const number = schemas.push({ name: each.qualified, fields }) - 1
    numbers.set(each, number)
    return number
  }
  if (schema !== null) numberOf(schema)
  return [module, name, hash, schemas]
}

function keepType(type: Type, numberOf: (schema: RowSchema) => number): KeptType {
  switch (type.type) {
    case 'list':
      return { list: type.item && keepType(type.item, numberOf) }
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

/** Decodes the result of `keepTable`. */
export function keptTable([module, name, hash, kept]: KeptTable): TableRef {
  const schemas: RowSchema[] = []
  for (const each of kept) {
    const fields = new Map(each.fields.map(([field, type]) => [field, type && keptType(type, schemas)]))
    schemas.push({ name: each.name.slice(each.name.lastIndexOf('.') + 1), qualified: each.name, fields })
  }
  return new TableRef(module, name, { hash }, schemas.at(-1) ?? null)
}

function keptType(kept: KeptType, schemas: readonly RowSchema[]): Type {
  if (typeof kept === 'string') return { type: kept }
  if ('list' in kept) return { type: 'list', item: kept.list && keptType(kept.list, schemas) }
  if ('module' in kept) return { type: 'module', interfaces: kept.module }
  if ('object' in kept) return { type: 'object', schema: kept.object === null ? null : schemas[kept.object] }
  return { type: 'table', schema: kept.table === null ? null : schemas[kept.table] }
}
