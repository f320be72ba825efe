/** Reads programs: their forms, in the grammar of the language. */
import { NOWHERE, type TextPlace } from '../errors.ts'
import type { CallForm, Form } from './form.ts'
import { type CheckForm, checkConstant, checkExpression, checkFunction } from './grammar-expression.ts'
import { checkInterface, checkModule, checkUse, MODULE_DEFINITIONS } from './grammar-module.ts'
import { read } from './reader.ts'

/** `test` is the grammar of test files. */
export type Dialect = 'contract' | 'test'

type CheckCall = (form: CallForm, atTop: CheckForm | null) => void

const TOP_LEVEL: ReadonlyMap<string, CheckCall> = new Map<string, CheckCall>([
  ['module', checkModule],
  ['interface', checkInterface],
  ['use', checkUse],
])
const TEST_TOP_LEVEL: ReadonlyMap<string, CheckCall> = new Map<string, CheckCall>([
  ...TOP_LEVEL,
  ['defun', checkFunction],
  ['defconst', checkConstant],
  // The runner refuses these when it comes to them, so that the file runs up to there.
  ...MODULE_DEFINITIONS,
])

/** @throws ContractError (SyntaxError) if the forms are not a program */
export function checkProgram(forms: readonly Form[], dialect: Dialect): void {
  const known = dialect === 'test' ? TEST_TOP_LEVEL : TOP_LEVEL
  const atTop = (form: Form) => checkTopLevel(form, known, dialect === 'test' ? atTop : null)
  for (const form of forms) atTop(form)
}

function checkTopLevel(form: Form, known: ReadonlyMap<string, CheckCall>, atTop: CheckForm | null): void {
  const head = form.form === 'call' ? form.items[0] : undefined
  const isBare = head?.form === 'atom' && head.member === null && head.type === null
  const check = isBare ? known.get(head.name) : undefined
  if (form.form === 'call' && check !== undefined) check(form, atTop)
  else checkExpression(form, atTop)
}

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
