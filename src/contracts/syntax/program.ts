/** Reads programs: their forms, in the grammar of the language. */
import { NOWHERE, type TextPlace } from '../errors.ts'
import type { Form } from './form.ts'
import { checkProgram } from './grammar.ts'
import { read } from './reader.ts'

/**
 * Reads the code of a command or of a contract.
 * @param start position of the text within a larger one
 * @throws ContractError (SyntaxError)
 */
export function readProgram(text: string, start: TextPlace = NOWHERE): Form[] {
  const forms = read(text, start)
  checkProgram(forms, 'contract')
  return forms
}

/**
 * Reads a test file. `defun` and `defconst` may stand outside of modules there, and whatever may stand at the top level
 * may stand in an expectation.
 * @throws ContractError (SyntaxError)
 */
export function readTest(text: string): Form[] {
  const forms = read(text)
  checkProgram(forms, 'test')
  return forms
}
