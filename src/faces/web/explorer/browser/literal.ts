/** Reads texts of fields as literals of the contract language, for code and for the JSON of a capability. */

import { literalToJson } from '#client/wallet/capability.ts'
import type { ExactJson } from '#ground/base/json.ts'
import { ContractError } from '#language/contracts/errors.ts'
import { read } from '#language/contracts/syntax/reader.ts'
import { FieldFault } from './field-fault.ts'

/** An argument as code of a call, and as JSON of a capability. */
export interface Argument {
  readonly code: string
  readonly json: ExactJson
}

/**
 * A literal.
 * @throws FieldFault for other code
 */
export function literalOf(text: string): Argument {
  const code = text.trim()
  const [form, next] = formsIn(code)
  if (form === undefined) throw new FieldFault('a literal, such as "text", 1.5, [1 2] or {"name": true}')
  if (next !== undefined) throw new FieldFault(`one literal: ${code.slice(next.from)} is left`)
  const json = literalToJson(form)
  if (json === null) throw new FieldFault(`a literal: ${code} is none`)
  return { code, json }
}

function formsIn(code: string) {
  try {
    return read(code)
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    throw new FieldFault(`a literal: ${error.message}`)
  }
}

/** @throws FieldFault if the text is not a whole number */
export function integerArgument(text: string): Argument {
  if (!/^-?\d+$/.test(text.trim())) throw new FieldFault('a whole number, such as 12')
  return literalOf(text)
}

/** A whole number gets the fraction that the language demands. @throws FieldFault if the text is not a number */
export function decimalArgument(text: string): Argument {
  const trimmed = text.trim()
  if (!/^-?\d+(\.\d+)?$/.test(trimmed)) throw new FieldFault('a number, such as 1.5')
  return literalOf(trimmed.includes('.') ? trimmed : `${trimmed}.0`)
}

/** @throws FieldFault if the text is not a time in UTC */
export function timeArgument(text: string): Argument {
  const trimmed = text.trim()
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(trimmed) || Number.isNaN(Date.parse(trimmed))) {
    throw new FieldFault('a time in UTC, such as 2027-01-31T12:00:00Z')
  }
  return { code: `(time "${trimmed}")`, json: { time: trimmed } }
}

/** A module by name. @throws FieldFault if the text is not a name */
export function moduleArgument(text: string, interfaces: readonly string[]): Argument {
  const trimmed = text.trim()
  if (!/^[^\s()[\]{}"'.,:;]+(\.[^\s()[\]{}"'.,:;]+)?$/.test(trimmed)) {
    throw new FieldFault('the name of a module, such as free.token')
  }
  return { code: trimmed, json: { refSpec: interfaces.map(nameJson), refName: nameJson(trimmed) } }
}

function nameJson(qualified: string) {
  const [first, second] = qualified.split('.')
  return second === undefined ? { namespace: null, name: first } : { namespace: first, name: second }
}
