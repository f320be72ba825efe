/** The grammar of modules and interfaces, as a check of forms. */
import type { CallForm, Form } from './form.ts'
import {
  checkBlock,
  checkConstant,
  checkDoc,
  checkDocOrModel,
  checkExpression,
  checkFunction,
  checkModel,
  checkParameter,
  checkParameters,
} from './grammar-expression.ts'
import { isDotted, isIdentifier } from './names.ts'
import { expectedError, FormParts } from './parts.ts'

type CheckMember = (form: CallForm) => void

/** @throws ContractError (SyntaxError) */
export function checkModule(form: CallForm): void {
  const parts = new FormParts(form)
  checkName(parts, 'name of the module')
  const governance = parts.take('keyset or capability of governance')
  if (governance.form !== 'string' && !(isIdentifier(governance) && governance.type === null))
    throw expectedError('keyset or capability of governance', governance.place)
  checkDocOrModel(parts, false)
  const kinds = checkMembers(parts, MODULE_MEMBERS)
  if (!kinds.some((kind) => kind.startsWith('def')))
    throw parts.missingError('at least one of [defun, defcap, defschema, deftable, defpact, defconst]')
}

/** @throws ContractError (SyntaxError) */
export function checkInterface(form: CallForm): void {
  const parts = new FormParts(form)
  checkName(parts, 'name of the interface')
  checkDocOrModel(parts, false)
  if (checkMembers(parts, INTERFACE_MEMBERS).length === 0) throw parts.missingError('member of the interface')
}

/**
 * Checks all members.
 * @returns the kind of each
 */
function checkMembers(parts: FormParts, known: ReadonlyMap<string, CheckMember>): string[] {
  return parts.rest().map((member) => {
    const head = member.form === 'call' ? member.items[0] : undefined
    const kind = head?.form === 'atom' && head.member === null && head.type === null ? head.name : ''
    const check = known.get(kind)
    if (member.form !== 'call' || check === undefined)
      throw expectedError(`one of ${[...known.keys()].join(', ')}, in parentheses`, member.place)
    check(member)
    return kind
  })
}

/** A name without a type. */
function checkName(parts: FormParts, what: string): void {
  const name = parts.identifier(what)
  if (name.type !== null) throw expectedError(`${what}, without a type`, name.place)
}

/** `module` or `namespace.module` */
function checkModuleName(form: Form, what: string): void {
  if (form.form !== 'atom' || form.member !== null || form.type !== null || !isDotted(form.name, 2))
    throw expectedError(what, form.place)
}

/**
 * Checks `(use module)`, with a hash, with a list of names, or with both.
 * @throws ContractError (SyntaxError)
 */
export function checkUse(form: CallForm): void {
  const parts = new FormParts(form)
  checkModuleName(parts.take('name of a module'), 'name of a module')
  const hash = parts.peek()
  if (hash?.form === 'string' && !hash.isSymbol) parts.take('hash')
  if (parts.left > 0) {
    const list = parts.list('hash in double quotes, or list of names')
    if (list.hasCommas) throw expectedError('names without commas', list.place)
    for (const item of list.items) {
      if (!isIdentifier(item) || item.type !== null) throw expectedError('name of a member', item.place)
    }
  }
  parts.end()
}

function checkImplement(form: CallForm): void {
  const parts = new FormParts(form)
  checkModuleName(parts.take('name of an interface'), 'name of an interface')
  parts.end()
}

function checkBless(form: CallForm): void {
  const parts = new FormParts(form)
  parts.string('hash of a module')
  parts.end()
}

function checkSchema(form: CallForm): void {
  const parts = new FormParts(form)
  checkName(parts, 'name of the schema')
  checkDocOrModel(parts, false)
  for (const field of parts.rest()) {
    if (!isIdentifier(field)) throw expectedError('name of a field', field.place)
    checkParameter(field)
  }
}

/** `(deftable name:{schema})` */
function checkTable(form: CallForm): void {
  const parts = new FormParts(form)
  const { type, name, place } = parts.identifier('name of the table')
  if (type?.type !== 'object' || !('isBare' in type)) throw expectedError(`${name}:{schema}`, place)
  if (type.schema !== null && !isDotted(type.schema, 3)) throw expectedError('name of a schema', place)
  checkDoc(parts)
  parts.end()
}

function checkCapability(form: CallForm): void {
  const parts = new FormParts(form)
  checkParameter(parts.identifier('name of the capability'))
  checkParameters(parts)
  checkDocOrModel(parts, true)
  checkCapabilityMark(parts)
  checkBlock(parts)
}

/** Checks `@event`, `@managed`, or `@managed` with a parameter and a function, if there is any of them. */
function checkCapabilityMark(parts: FormParts): void {
  if (parts.skip('@event') || !parts.skip('@managed') || !isIdentifier(parts.peek())) return
  checkName(parts, 'managed parameter')
  const manager = parts.take('function that manages the parameter')
  const isName = manager.form === 'atom' && manager.type === null && isDotted(manager.name, 3)
  if (!isName) throw expectedError('function that manages the parameter', manager.place)
}

function checkPact(form: CallForm): void {
  const parts = new FormParts(form)
  checkParameter(parts.identifier('name of the defpact'))
  checkParameters(parts)
  checkDocOrModel(parts, false)
  if (parts.left === 0) throw parts.missingError('step or step-with-rollback')
  for (const step of parts.rest()) checkStep(step)
}

/** A step has one expression, or two with a rollback. One more is an entity, which the loader refuses. */
function checkStep(form: Form): void {
  if (form.form !== 'call') throw expectedError('step or step-with-rollback, in parentheses', form.place)
  const parts = new FormParts(form, 0)
  const fewest = parts.skip('step-with-rollback') ? 2 : 1
  if (fewest === 1 && !parts.skip('step')) throw expectedError('step or step-with-rollback', form.place)
  for (let i = 0; i < fewest; i++)
    checkExpression(parts.take(i === 0 ? 'expression of the step' : 'expression of the rollback'))
  if (parts.left > 0 && !checkModel(parts)) {
    checkExpression(parts.take('expression'))
    checkModel(parts)
  }
  parts.end()
}

/** A function, capability or pact of an interface: parameters, and no body. */
function checkSignature(form: CallForm): void {
  const parts = new FormParts(form)
  checkParameter(parts.identifier('name'))
  checkParameters(parts)
  checkDocOrModel(parts, false)
  if (isDefcap(form)) checkCapabilityMark(parts)
  const body = parts.peek()
  if (body !== undefined) throw expectedError("')'; members of interfaces have no body", body.place)
}

function isDefcap({ items: [head] }: CallForm): boolean {
  return head?.form === 'atom' && head.name === 'defcap'
}

/** Definitions that only modules have. */
export const MODULE_DEFINITIONS: ReadonlyMap<string, CheckMember> = new Map<string, CheckMember>([
  ['defcap', checkCapability],
  ['defschema', checkSchema],
  ['deftable', checkTable],
  ['defpact', checkPact],
])

const MODULE_MEMBERS: ReadonlyMap<string, CheckMember> = new Map<string, CheckMember>([
  ['defun', checkFunction],
  ['defconst', checkConstant],
  ...MODULE_DEFINITIONS,
  ['use', checkUse],
  ['implements', checkImplement],
  ['bless', checkBless],
])

const INTERFACE_MEMBERS: ReadonlyMap<string, CheckMember> = new Map<string, CheckMember>([
  ['defun', checkSignature],
  ['defcap', checkSignature],
  ['defconst', checkConstant],
  ['defschema', checkSchema],
  ['defpact', checkSignature],
  ['use', checkUse],
])
