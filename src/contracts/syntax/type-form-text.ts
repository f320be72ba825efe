/** Source form of a type as written. */
import type { TypeForm } from './form.ts'

/** @returns `[string]`, `object{account}`, `module{fungible-v2}`, `integer`, ... */
export function typeFormText(type: TypeForm): string {
  switch (type.type) {
    case 'list':
      return type.item === null ? 'list' : `[${typeFormText(type.item)}]`
    case 'object':
    case 'table':
      return type.schema === null ? type.type : `${type.type}{${type.schema}}`
    case 'module':
      return `module{${type.interfaces.join(', ')}}`
    default:
      return type.type
  }
}
