/** Reads texts of fields as arguments of calls and of capabilities, by their types. */

import { type Capability, quoteForCode, readCapability } from '#client/wallet/capability.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { FieldFault } from './field-fault.ts'
import { type Argument, decimalArgument, integerArgument, literalOf, moduleArgument, timeArgument } from './literal.ts'

/**
 * Reads the text of a field of this type.
 * @throws FieldFault
 */
export function argumentOf(type: string, text: string): Argument {
  if (type === 'string') return { code: quoteForCode(text), json: text }
  if (type === 'integer') return integerArgument(text)
  if (type === 'decimal') return decimalArgument(text)
  if (type === 'time') return timeArgument(text)
  if (type === 'bool') return { code: text, json: text === 'true' }
  const interfaces = /^module\{(.*)\}$/.exec(type)
  if (interfaces !== null) return moduleArgument(text, interfaces[1].split(', '))
  const literal = literalOf(text)
  if ((type === 'list' || type.startsWith('[')) && !Array.isArray(literal.json)) {
    throw new FieldFault('a list, such as [1 2 3]')
  }
  if (type.startsWith('object') && !literal.code.startsWith('{')) {
    throw new FieldFault('an object, such as {"field": 1}')
  }
  return literal
}

/**
 * Parses `(module.CAP ARGUMENT ..)`.
 * @throws FieldFault
 */
export function capabilityOf(text: string): Capability {
  try {
    return readCapability(text)
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    throw new FieldFault('a capability with its arguments, such as (coin.TRANSFER "alice" "bob" 1.5)')
  }
}
