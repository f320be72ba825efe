/**
 * The grammar of expressions, and of the parts that members of modules share, as a check of forms.
 *
 * Test files allow top-level forms in expectations. The parameter `atTop` checks these; it is null elsewhere.
 */
import type { Atom, CallForm, Form, TypeForm } from './form.ts'
import { isDotted, isIdentifier, isKeyword, isWord } from './names.ts'
import { expectedError, FormParts } from './parts.ts'

/** @throws ContractError (SyntaxError) if a form is not in the grammar */
export type CheckForm = (form: Form) => void

/** Forms whose parts may be top-level forms in test files. */
const EXPECTATIONS: ReadonlySet<string> = new Set(['expect', 'expect-failure', 'expect-that'])

/** @throws ContractError (SyntaxError) */
export function checkExpression(form: Form, atTop: CheckForm | null = null): void {
  switch (form.form) {
    case 'string':
    case 'number':
      return
    case 'atom':
      checkVariable(form)
      return
    case 'list':
      for (const item of form.items) checkExpression(item, atTop)
      return
    case 'object':
      for (const [, value] of form.fields) checkExpression(value, atTop)
      return
    case 'binding':
      throw expectedError('expression; a binding follows a function in a call', form.place)
    case 'call':
      checkCall(form, atTop)
  }
}

/** `a`, `module.a`, `namespace.module.a` or `a::b`, without a type. */
function checkVariable({ name, member, type, place }: Atom): void {
  if (name === 'true' || name === 'false') {
    if (type === null && member === null) return
  } else if (isKeyword(name)) throw expectedError(`expression; ${name} is a word of the grammar`, place)
  if (type !== null) throw expectedError('expression; a type follows the name of a parameter or variable only', place)
  if (member !== null && (name.includes('.') || isKeyword(name) || member.includes('.') || isKeyword(member)))
    throw expectedError('name::member', place)
  if (!isDotted(name, 3)) throw expectedError('name, module.name or namespace.module.name', place)
}

function checkCall(call: CallForm, atTop: CheckForm | null): void {
  const [head, ...rest] = call.items
  if (head === undefined) return
  if (isWord(head, 'lambda')) checkLambda(call, atTop)
  else if (isWord(head, 'let') || isWord(head, 'let*')) checkLet(call, atTop)
  else {
    checkExpression(head, atTop)
    const checkPart = atTop !== null && isExpectation(head) ? atTop : (form: Form) => checkExpression(form, atTop)
    for (const form of rest) {
      if (form.form === 'binding') checkBinding(form.fields.map(([, variable]) => variable))
      else checkPart(form)
    }
  }
}

function isExpectation(head: Form): boolean {
  return head.form === 'atom' && EXPECTATIONS.has(head.name)
}

function checkBinding(variables: readonly Atom[]): void {
  for (const variable of variables) checkParameter(variable)
}

function checkLambda(call: CallForm, atTop: CheckForm | null): void {
  const parts = new FormParts(call)
  checkParameters(parts)
  checkBlock(parts, atTop)
}

function checkLet(call: CallForm, atTop: CheckForm | null): void {
  const parts = new FormParts(call)
  const { items, place } = parts.parentheses("'('")
  if (items.length === 0) throw expectedError("'('; let binds at least one variable", place)
  for (const item of items) {
    if (item.form !== 'call') throw expectedError('(name value)', item.place)
    const binder = new FormParts(item, 0)
    checkParameter(binder.identifier('name of a variable'))
    checkExpression(binder.take('value of the variable'), atTop)
    binder.end()
  }
  checkBlock(parts, atTop)
}

/**
 * Checks the rest of the parts: at least one expression.
 * @throws ContractError (SyntaxError)
 */
export function checkBlock(parts: FormParts, atTop: CheckForm | null = null): void {
  if (parts.left === 0) throw parts.missingError('expression')
  for (const form of parts.rest()) checkExpression(form, atTop)
}

/**
 * Checks the next part: parameters in parentheses.
 * @throws ContractError (SyntaxError)
 */
export function checkParameters(parts: FormParts): void {
  for (const item of parts.parentheses("'('; the parameters").items) {
    if (!isIdentifier(item)) throw expectedError('name of a parameter', item.place)
    checkParameter(item)
  }
}

/**
 * Checks a name with or without a type.
 * @throws ContractError (SyntaxError)
 */
export function checkParameter(form: Atom): void {
  const { place } = form
  if (!isIdentifier(form)) throw expectedError('name of a variable', place)
  if (form.type !== null) checkType(form.type, form)
}

/** @param around typed name, for its place */
function checkType(type: TypeForm, around: Atom): void {
  switch (type.type) {
    case 'list':
      if (type.item !== null) checkType(type.item, around)
      return
    case 'object':
    case 'table':
      if ('isBare' in type) throw expectedError(`object{${type.schema}} or table{${type.schema}}`, around.place)
      if (type.schema !== null && !isDotted(type.schema, 3)) throw expectedError('name of a schema', around.place)
      return
    case 'module':
      for (const name of type.interfaces)
        if (!isDotted(name, 2)) throw expectedError('name of an interface', around.place)
  }
}

/**
 * Checks `(defconst name value)`, with a docstring or without.
 * @throws ContractError (SyntaxError)
 */
export function checkConstant(form: CallForm, atTop: CheckForm | null = null): void {
  const parts = new FormParts(form)
  checkParameter(parts.identifier('name of the constant'))
  checkExpression(parts.take('value of the constant'), atTop)
  checkDoc(parts)
  parts.end()
}

/**
 * Checks `(defun name (parameters) body)`.
 * @throws ContractError (SyntaxError)
 */
export function checkFunction(form: CallForm, atTop: CheckForm | null = null): void {
  const parts = new FormParts(form)
  checkParameter(parts.identifier('name of the function'))
  checkParameters(parts)
  checkDocOrModel(parts, true)
  checkBlock(parts, atTop)
}

/**
 * Checks a docstring, if there is one: a string, or `@doc` and a string.
 * @returns whether there is one
 * @throws ContractError (SyntaxError)
 */
export function checkDoc(parts: FormParts): boolean {
  if (parts.skip('@doc')) {
    const { isSymbol, place } = parts.string('docstring')
    if (isSymbol) throw expectedError('docstring in double quotes', place)
    return true
  }
  const next = parts.peek()
  if (next?.form !== 'string' || next.isSymbol) return false
  parts.take('docstring')
  return true
}

/**
 * Checks docstring and properties, if there are any: a string, or `@doc` and `@model` in any order.
 * @param isBeforeBody true if a string at the end is the body, not a docstring
 * @throws ContractError (SyntaxError)
 */
export function checkDocOrModel(parts: FormParts, isBeforeBody: boolean): void {
  if (isWord(parts.peek(), '@doc')) {
    checkDoc(parts)
    checkModel(parts)
  } else if (checkModel(parts)) {
    if (isWord(parts.peek(), '@doc')) checkDoc(parts)
  } else if (!isBeforeBody || parts.left > 1) checkDoc(parts)
}

/**
 * Checks `@model` and its list, if they are next.
 * @returns whether they are
 * @throws ContractError (SyntaxError)
 */
export function checkModel(parts: FormParts): boolean {
  if (!parts.skip('@model')) return false
  parts.list('list of properties')
  return true
}
