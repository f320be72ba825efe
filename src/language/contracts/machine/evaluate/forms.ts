/** Special forms: their parts are evaluated conditionally or in an order of their own. */
import { evalError, type TextPlace, txFailure } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import type { Atom, CallForm, Form } from '../../syntax/form.ts'
import { syntaxError } from '../../syntax/lexer.ts'
import { showValue } from '../../values/print.ts'
import { CapabilityToken, Guard, type Type } from '../../values/value.ts'
import { type Expr, FunctionDefinition, type Run } from '../ast.ts'
import { functionOf } from '../callables.ts'
import type { Expander, Scope, SpecialForm } from '../expand/expander.ts'
import * as exprs from '../expand/expressions.ts'
import { exprOf } from '../expand/expressions.ts'
import { checkSize } from '../gas/bounds.ts'
import { ofNative } from '../gas/cost-names.ts'
import { PRICE } from '../gas/prices.ts'
import { refuseInCapability, testMode } from '../rights/access.ts'
import { withCapability } from '../rights/capabilities.ts'
import { asValue, Callable, type Term } from '../term.ts'
import { argumentTypeName, typeName } from '../types.ts'
import { resumedObject } from './pacts.ts'
import { findRow, readRow, readWithCharge } from './tables.ts'

/**
 * @returns the operands of a special form: the forms after its name
 * @throws ContractError (SyntaxError) if their number is out of range
 */
function operandsOf(call: CallForm, fewest: number, most = fewest): readonly Form[] {
  const own = call.items.slice(1)
  if (own.length >= fewest && own.length <= most) return own
  const name = call.items[0].form === 'atom' ? call.items[0].name : ''
  throw syntaxError(
    `${name} takes ${fewest === most ? fewest : `${fewest} to ${most}`} parts, not ${own.length}`,
    call.place,
  )
}

/** @throws EvalError if the term is not a boolean */
export function asBool(term: Term, place: TextPlace): boolean {
  if (typeof term === 'boolean') return term
  const value = asValue(term)
  throw failure('NO_BOOL', { type: argumentTypeName(value), value: () => showValue(value) }, place)
}

/** @throws EvalError if the term is not a string */
export function asText(term: Term, place: TextPlace): string {
  if (typeof term === 'string') return term
  const value = asValue(term)
  throw failure('NO_STRING', { type: argumentTypeName(value), value: () => showValue(value) }, place)
}

/** @throws EvalError if the term is not a capability token */
export function asToken(term: Term, place: TextPlace): CapabilityToken {
  if (term instanceof CapabilityToken) return term
  throw evalError(`Expected capability token value, but got: ${typeName(asValue(term))}`, place)
}

const ifForm: SpecialForm = (call, expander, scope) => {
  const [test, yes, no] = expander.expandAll(operandsOf(call, 3), scope)
  return exprOf(call.place, (run, env) => {
    return run.evaluate(asBool(run.evaluate(test, env), test.place) ? yes : no, env)
  })
}

/** `and` and `or`: a first operand equal to `decisive` is the result; otherwise the second operand is. */
const connective =
  (decisive: boolean): SpecialForm =>
  (call, expander, scope) => {
    const connect = ([one, other]: readonly Expr[]) =>
      exprOf(call.place, (run, env) => {
        if (asBool(run.evaluate(one, env), one.place) === decisive) return decisive
        return asBool(run.evaluate(other, env), other.place)
      })
    return withTwoOperands(call, expander, scope, connect)
  }

const BOOL: Type = { type: 'bool' }

/**
 * A form with two operands. With any other number, such as in `(fold (and) true list)`, a lambda of two booleans is
 * applied to them.
 */
function withTwoOperands(
  call: CallForm,
  expander: Expander,
  scope: Scope | null,
  build: (operands: readonly Expr[]) => Expr,
): Expr {
  const { place, items } = call
  const operands = expander.expandAll(items.slice(1), scope)
  if (operands.length === 2) return build(operands)
  const params = ['one', 'other'].map((name) => ({ name, type: BOOL }))
  const body = build([exprs.local(1, place), exprs.local(0, place)])
  return exprs.call(exprs.lambda(params, [body], place), operands, place)
}

/**
 * `(map (f a) list)` is `(map (lambda (x) (f a x)) list)`: the parts of the call are evaluated for each item, the
 * number of arguments selects the overload of a native, and special forms are allowed.
 */
const mapForm: SpecialForm = (call, expander, scope) => {
  const { place, items } = call
  const [head, fn, ...rest] = items
  const name = expander.expand(head, scope)
  if (fn === undefined) return exprs.call(name, [], place)
  if (!isApplication(fn)) return exprs.call(name, expander.expandAll([fn, ...rest], scope), place)
  const item: Atom = { form: 'atom', name: ITEM, member: null, type: null, place: fn.place, from: fn.to, to: fn.to }
  const body = expander.expand({ ...fn, items: [...fn.items, item] }, { name: ITEM, up: scope })
  const others = expander.expandAll(rest, scope)
  return exprs.call(name, [exprs.lambda([{ name: ITEM, type: null }], [body], fn.place), ...others], place)
}

/** Variable for an item. Code cannot name it. */
const ITEM = ':item'
const NOT_APPLICATIONS: ReadonlySet<string> = new Set(['lambda', 'let', 'let*'])

/** True for calls, except for forms that bind variables. */
function isApplication(form: Form): form is CallForm {
  if (form.form !== 'call' || form.items.length === 0) return false
  const [head] = form.items
  return head.form !== 'atom' || head.member !== null || !NOT_APPLICATIONS.has(head.name)
}

/** Pairs of a test and a value, then a default: `(cond (a b) (c d) e)`. */
const condForm: SpecialForm = (call, expander, scope) => {
  const forms = call.items.slice(1)
  const last = forms.at(-1)
  if (last === undefined) throw syntaxError('cond takes at least one part', call.place)
  const pairs: Expr[][] = []
  for (const form of forms.slice(0, -1)) {
    if (form.form !== 'call' || form.items.length !== 2)
      throw syntaxError('cond takes pairs of a test and a value', form.place)
    pairs.push(expander.expandAll(form.items, scope))
  }
  const otherwise = expander.expand(last, scope)
  return exprOf(call.place, (run, env) => {
    run.charge(PRICE.native, ofNative('cond', 1), call.place)
    for (const [test, value] of pairs) {
      if (asBool(run.evaluate(test, env), test.place)) return run.evaluate(value, env)
    }
    return run.evaluate(otherwise, env)
  })
}

const letForm: SpecialForm = (call, expander, scope) => {
  const [bindings, ...body] = call.items.slice(1)
  if (bindings?.form !== 'call') throw syntaxError("Expected: ['(']", bindings?.place ?? call.place)
  let inner = scope
  const values: { readonly type: Type | null; readonly value: Expr }[] = []
  for (const binding of bindings.items) {
    const [variable, value, ...rest] = binding.form === 'call' ? binding.items : []
    if (variable?.form !== 'atom' || value === undefined || rest.length > 0)
      throw syntaxError('let takes pairs of a name and a value', binding.place)
    values.push({ type: expander.type(variable.type, variable.place), value: expander.expand(value, inner) })
    inner = { name: variable.name, up: inner }
  }
  const steps = expander.body(body, inner, call.place)
  return exprOf(call.place, (run, env) => {
    let bound = env
    for (const { type, value } of values) {
      const term = run.evaluate(value, bound)
      // The type of a variable does not apply to functions.
      if (!(term instanceof Callable)) run.checkType(type, term)
      bound = { value: term, up: bound }
    }
    return run.sequence(steps, bound)
  })
}

const lambdaForm: SpecialForm = (call, expander, scope) => {
  const [paramForms, ...body] = call.items.slice(1)
  const names = expander.paramNames(paramForms, call.place)
  let inner = scope
  for (const { name } of names) inner = { name, up: inner }
  // As on the network, names in the body are found before those in the types.
  const steps = expander.body(body, inner, call.place)
  return exprs.lambda(expander.typedParams(names), steps, call.place)
}

const doForm: SpecialForm = (call, expander, scope) => {
  const steps = expander.body(call.items.slice(1), scope, call.place)
  return exprOf(call.place, (run, env) => run.sequence(steps, env))
}

const enforceForm: SpecialForm = (call, expander, scope) => {
  const { place } = call
  return withTwoOperands(call, expander, scope, ([test, message]) =>
    exprOf(place, (run, env) => {
      const { call } = run
      const around = call.mode
      call.mode = testMode(run)
      if (!asBool(run.evaluate(test, env), test.place)) {
        throw txFailure(asText(run.evaluate(message, env), message.place), place)
      }
      call.mode = around
      return true
    }),
  )
}

const enforceOneForm: SpecialForm = (call, expander, scope) => {
  const { place } = call
  const [message, list] = operandsOf(call, 2)
  if (list.form !== 'list') throw syntaxError('enforce-one takes a list of tests', list.place)
  const [text, ...tests] = expander.expandAll([message, ...list.items], scope)
  return exprOf(place, (run, env) => {
    if (tests.length > 0) run.charge(PRICE.attempt)
    return run.inMode(run.call.mode.readOnly, () => {
      for (const test of tests) {
        const passes = () => asBool(run.evaluate(test, env), test.place)
        if (run.attempt(passes, () => false)) return true
      }
      throw txFailure(asText(run.evaluate(text, env), text.place), place)
    })
  })
}

const tryForm: SpecialForm = (call, expander, scope) => {
  const [otherwise, attempted] = expander.expandAll(operandsOf(call, 2), scope)
  return exprOf(call.place, (run, env) => {
    run.charge(PRICE.attempt)
    return run.attempt(
      () => run.inMode(run.call.mode.readOnly, () => run.evaluate(attempted, env)),
      () => run.evaluate(otherwise, env),
    )
  })
}

/** Evaluates code that may not write. */
const pureForm: SpecialForm = (call, expander, scope) => {
  const code = expander.expand(operandsOf(call, 1)[0], scope)
  return exprOf(call.place, (run, env) => {
    requireLanguage53(run, 'pure', call.place)
    return run.inMode(run.call.mode.readOnly, () => run.evaluate(code, env))
  })
}

/** Fails with a message, which `try` catches. */
const errorForm: SpecialForm = (call, expander, scope) => {
  const message = expander.expand(operandsOf(call, 1)[0], scope)
  return exprOf(call.place, (run, env) => {
    requireLanguage53(run, 'error', call.place)
    throw txFailure(asText(run.evaluate(message, env), message.place), call.place)
  })
}

function requireLanguage53({ block }: Run, name: string, place: TextPlace): void {
  if (!block.rules.isLanguage53) throw evalError(`Unbound variable: ${name}`, place)
}

const withCapabilityForm: SpecialForm = (call, expander, scope) => {
  const { place } = call
  const [token, ...body] = call.items.slice(1)
  if (token === undefined) throw syntaxError('with-capability takes a capability and a body', place)
  const wanted = expander.expand(token, scope)
  const steps = expander.body(body, scope, place)
  return exprOf(place, (run, env) => {
    refuseInCapability(run, 'with-capability', place)
    const capability = asToken(run.evaluate(wanted, env), wanted.place)
    return withCapability(run, capability, () => run.sequence(steps, env), { place })
  })
}

/** Splits a call into its function and arguments. */
function callParts(form: Form, expander: Expander, scope: Scope | null) {
  if (form.form !== 'call' || form.items.length === 0) throw syntaxError('a call of a function is expected', form.place)
  const [fn, ...args] = expander.expandAll(form.items, scope)
  return { fn, args }
}

const userGuardForm: SpecialForm = (call, expander, scope) => {
  const { place } = call
  const [form] = operandsOf(call, 1)
  const { fn, args } = callParts(form, expander, scope)
  return exprOf(place, (run, env) => {
    const fun = functionOf(run.evaluate(fn, env))
    if (!(fun instanceof FunctionDefinition) || fun.kind !== 'defun')
      throw evalError('User guard closure must be a defun', place)
    const values = args.map((arg) => run.value(arg, env))
    return checkSize(new Guard({ kind: 'user', fun: fun.qualified, args: values }))
  })
}

const withReadForm: SpecialForm = (call, expander, scope) => {
  const [table, key, ...rest] = call.items.slice(1)
  if (key === undefined) throw syntaxError('with-read takes a table, a key and a binding', call.place)
  const [from, at] = expander.expandAll([table, key], scope)
  const consume = expander.consumer(rest, scope, call.place)
  return exprOf(call.place, (run, env) => {
    const rows = run.evaluate(from, env)
    const row = run.evaluate(at, env)
    const read = () => readRow(run, rows, asText(row, at.place))
    return consume(run, env, readWithCharge(run, { by: 'with-read', place: call.place, args: [rows, row] }, read))
  })
}

const withDefaultReadForm: SpecialForm = (call, expander, scope) => {
  const { place } = call
  const [table, key, fallback, ...rest] = call.items.slice(1)
  if (fallback === undefined)
    throw syntaxError('with-default-read takes a table, a key, a default and a binding', place)
  const [from, at, otherwise] = expander.expandAll([table, key, fallback], scope)
  const consume = expander.consumer(rest, scope, place)
  return exprOf(place, (run, env) => {
    const rows = run.evaluate(from, env)
    const row = run.evaluate(at, env)
    const object = run.evaluate(otherwise, env)
    const read = () => {
      if (!(object instanceof Map)) throw evalError('the default of with-default-read is not an object', place)
      return findRow(run, rows, asText(row, at.place)) ?? object
    }
    return consume(run, env, readWithCharge(run, { by: 'with-default-read', place, args: [rows, row] }, read))
  })
}

const bindForm: SpecialForm = (call, expander, scope) => {
  const { place } = call
  const [source, ...rest] = call.items.slice(1)
  if (source === undefined) throw syntaxError('bind takes an object and a binding', place)
  const from = expander.expand(source, scope)
  const consume = expander.consumer(rest, scope, place)
  return exprOf(place, (run, env) => {
    const object = run.evaluate(from, env)
    run.charge(PRICE.native, ofNative('bind', 2), place)
    if (!(object instanceof Map)) throw evalError(`Expected an object, but got: ${typeName(object)}`, place)
    return consume(run, env, object)
  })
}

const resumeForm: SpecialForm = (call, expander, scope) => {
  const consume = expander.consumer(call.items.slice(1), scope, call.place)
  return exprOf(call.place, (run, env) => {
    run.charge(PRICE.resume, ofNative('resume', 1), call.place)
    return consume(run, env, resumedObject(run))
  })
}

/** A function without parameters. */
const suspendForm: SpecialForm = (call, expander, scope) => {
  return exprs.lambda([], [expander.expand(operandsOf(call, 1)[0], scope)], call.place)
}

const refuseForm = (call: CallForm): Expr => {
  const name = (call.items[0] as Atom).name
  throw syntaxError(`${name} is not an expression`, call.place)
}

export const specialForms: ReadonlyMap<string, SpecialForm> = new Map<string, SpecialForm>([
  ['if', ifForm],
  ['and', connective(false)],
  ['or', connective(true)],
  ['cond', condForm],
  ['map', mapForm],
  ['let', letForm],
  ['let*', letForm],
  ['lambda', lambdaForm],
  ['do', doForm],
  ['suspend', suspendForm],
  ['pure', pureForm],
  ['error', errorForm],
  ['enforce', enforceForm],
  ['enforce-one', enforceOneForm],
  ['try', tryForm],
  ['with-capability', withCapabilityForm],
  ['create-user-guard', userGuardForm],
  ['with-read', withReadForm],
  ['with-default-read', withDefaultReadForm],
  ['bind', bindForm],
  ['resume', resumeForm],
  ['step', refuseForm],
  ['step-with-rollback', refuseForm],
])
