/** Names of declared types in messages. */
import type { Type } from '../values/type.ts'

/** Short name of a declared type. */
export function shortType(type: Type): string {
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

/** Declared type in full, with qualified names. */
export function shownType(type: Type): string {
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
  const text = shownType(type)
  return type.type === 'list' || type.type === 'object' || type.type === 'table' || type.type === 'module'
    ? `(${text})`
    : text
}
