/** Capabilities to which a signature is limited, in the syntax of the language: `(coin.TRANSFER "alice" "bob" 1.5)`. */
import { NewcutError } from '../base/errors.ts'
import type { ExactJson } from '../base/json.ts'
import { ContractError } from '../contracts/errors.ts'
import { read } from '../contracts/syntax/reader.ts'
import { literalJson } from './literal.ts'

/** A capability with its arguments, as in the list of a signer. */
export interface Capability {
  /** `module.CAP` or `namespace.module.CAP`. */
  readonly name: string
  readonly args: readonly ExactJson[]
}

/** Permission to buy gas from the account of the sender. */
export const GAS: Capability = { name: 'coin.GAS', args: [] }

const QUALIFIED = /^[^.]+(\.[^.]+){1,2}$/
const EXPECTED = 'expected one capability with its arguments, such as (coin.TRANSFER "alice" "bob" 1.5)'

/** Parses a capability. Throws NewcutError BAD_OPTION, which says what is wrong with it. */
export function readCapability(text: string): Capability {
  const refuse = (what: string): never => {
    throw new NewcutError('BAD_OPTION', `capability ${text}: ${what}`, { hint: EXPECTED })
  }
  const forms = formsOf(text, refuse)
  const [form] = forms
  if (forms.length !== 1 || form.form !== 'call') return refuse('not one form in parentheses')
  const [name, ...rest] = form.items
  if (name?.form !== 'atom' || name.type !== null || name.member !== null || !QUALIFIED.test(name.name)) {
    return refuse('its name is not module.CAP or namespace.module.CAP')
  }
  const args = rest.map((each) => {
    const value = literalJson(each)
    return value ?? refuse(`${text.slice(each.from, each.to)} is code; arguments are plain values`)
  })
  return { name: name.name, args }
}

function formsOf(text: string, refuse: (what: string) => never) {
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    return refuse(error.message)
  }
}
