/** Reads texts of fields as arguments of calls and of capabilities, by their types. */
import { type Argument, decimalOf, FieldFault, integerOf, literalOf, moduleOf, quoted, timeOf } from './literal.ts'
import type { DraftCapability } from './signing.ts'

/** Reads the text of a field of this type. Throws FieldFault. */
export function argumentOf(type: string, text: string): Argument {
  if (type === 'string') return { code: quoted(text), json: text }
  if (type === 'integer') return integerOf(text)
  if (type === 'decimal') return decimalOf(text)
  if (type === 'time') return timeOf(text)
  if (type === 'bool') return { code: text, json: text === 'true' }
  const interfaces = /^module\{(.*)\}$/.exec(type)
  if (interfaces !== null) return moduleOf(text, interfaces[1].split(', '))
  const literal = literalOf(text)
  if ((type === 'list' || type.startsWith('[')) && !Array.isArray(literal.json)) {
    throw new FieldFault('a list, such as [1 2 3]')
  }
  if (type.startsWith('object') && !literal.code.startsWith('{')) {
    throw new FieldFault('an object, such as {"field": 1}')
  }
  return literal
}

/** Parses `(module.CAP ARGUMENT ..)`. Throws FieldFault. */
export function capabilityOf(text: string): DraftCapability {
  const parts = /^\(\s*([^\s().]+(?:\.[^\s().]+){1,2})(\s[\s\S]*)?\)$/.exec(text.trim())
  if (parts === null) throw new FieldFault('a capability with its arguments, such as (coin.TRANSFER "alice" "bob" 1.5)')
  return { name: parts[1], args: literalOf(`[${parts[2] ?? ''}]`).json as readonly unknown[] }
}
