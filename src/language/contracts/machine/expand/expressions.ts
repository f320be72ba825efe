/**
 * Constructors of expressions.
 *
 * Each expression is built by a function of its own, so that its closure captures only its parts. Parts of a module
 * outlive the command that loaded it.
 */

import { evalError, type TextPlace } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import { showValue } from '../../values/print.ts'
import { ModuleRef, type ObjectValue, type Type, UNIT, type Value } from '../../values/value.ts'
import type { AccessMode } from '../access-mode.ts'
import { Const, type Env, type Expr, FunctionDefinition, type Param, type Run, TableDefinition } from '../ast.ts'
import { Closure, Lambda, NativeFunction, PartialApplication } from '../callables.ts'
import { checkSize } from '../gas/bounds.ts'
import { ofCall, ofList, ofLookup, ofNative, ofObject } from '../gas/cost-names.ts'
import { countMemory } from '../gas/memory-meter.ts'
import { callPrice, lookupPrice, PRICE } from '../gas/prices.ts'
import { asValue, Callable, type Term } from '../term.ts'
import { typeName } from '../types.ts'

/** Access to variables beyond this distance counts as work, by distance. */
export const FREE_DISTANCE = 20

/** Builds an expression from a function. */
export function exprOf(place: TextPlace, evaluate: (run: Run, env: Env | null) => Term): Expr {
  return { place, evaluate }
}

export function constant(term: Term, place: TextPlace): Expr {
  return exprOf(place, () => term)
}

export function constantOf(definition: Const, place: TextPlace): Expr {
  return exprOf(place, () => definition.value)
}

export function list(items: readonly Expr[], place: TextPlace): Expr {
  return exprOf(place, (run, env) => {
    run.charge(PRICE.item * items.length, ofList(items.length), place)
    const values: Value[] = []
    for (const item of items) values.push(run.value(item, env))
    return countMemory(run.transaction, checkSize(values))
  })
}

export function object(fields: readonly (readonly [name: string, value: Expr])[], place: TextPlace): Expr {
  return exprOf(place, (run, env) => {
    run.charge(PRICE.item * fields.length, ofObject(fields.length), place)
    const values = new Map<string, Value>()
    for (const [name, value] of fields) values.set(name, run.value(value, env))
    return countMemory(run.transaction, checkSize(values))
  })
}

/**
 * Reads a local variable.
 * @param distance number of variables between here and that variable
 */
export function local(distance: number, place: TextPlace): Expr {
  return exprOf(place, (run, env) => {
    if (distance > FREE_DISTANCE) run.work(2 * distance)
    let variable = env
    for (let i = 0; i < distance; i++) variable = variable?.up ?? null
    if (variable === null) throw evalError('a variable has no value', place)
    return variable.value
  })
}

export function moduleRef(name: string, interfaces: readonly string[], place: TextPlace): Expr {
  return exprOf(place, () => new ModuleRef(name, interfaces))
}

function evaluateAll(run: Run, exprs: readonly Expr[], env: Env | null): Term[] {
  // In place of map, whose closure takes twice the memory of the terms.
  const terms = new Array<Term>(exprs.length)
  for (let i = 0; i < exprs.length; i++) terms[i] = run.evaluate(exprs[i], env)
  return terms
}

function callableOf(term: Term, place: TextPlace): Callable {
  if (term instanceof Callable) return term
  throw evalError('Cannot apply value to a non-closure.', place)
}

/**
 * A call. With too few arguments, it yields a partially applied function. Only natives such as `map` can apply that
 * one to the rest: code that calls it by itself is refused.
 */
export function call(fn: Expr, args: readonly Expr[], place: TextPlace): Expr {
  const target = fn instanceof FunctionName ? constant(fn.calledWith(args.length), fn.place) : fn
  return exprOf(place, (run, env) => {
    const callable = callableOf(run.evaluate(target, env), place)
    if (callable instanceof PartialApplication) {
      throw evalError('Failed to apply a partial closure outside of the native callsite.', place)
    }
    return run.apply(callable, evaluateAll(run, args, env), place)
  })
}

/** A function by its name. As a value it keeps the mode of this place. */
class FunctionName implements Expr {
  readonly fn: NativeFunction | FunctionDefinition
  readonly place: TextPlace

  constructor(fn: NativeFunction | FunctionDefinition, place: TextPlace) {
    this.fn = fn
    this.place = place
  }

  /** The function as the head of a call, which selects the overload of a native by its number of arguments. */
  calledWith(count: number): NativeFunction | FunctionDefinition {
    return this.fn instanceof FunctionDefinition ? this.fn : this.fn.overload(count)
  }

  evaluate(run: Run): Term {
    return new Closure(this.fn, run.call.mode)
  }
}

/** A native, a constant of the language, or a function or table of a module. */
export function reference(term: Term, place: TextPlace): Expr {
  return term instanceof NativeFunction || term instanceof FunctionDefinition
    ? new FunctionName(term, place)
    : constant(term, place)
}

export function lambda(params: readonly Param[], body: readonly Expr[], place: TextPlace): Expr {
  return exprOf(place, ({ call }, env) => new Lambda(params, body, env, call.mode))
}

/** `m::member`, where `m` evaluates to a module reference. */
export function member(target: Expr, name: string, place: TextPlace): Expr {
  return exprOf(place, (run, env) => {
    const ref = run.evaluate(target, env)
    if (!(ref instanceof ModuleRef)) throw evalError('the left side of :: is not a module', place)
    const definition = run.findModule(ref.name)?.get(name)
    if (definition === undefined) throw evalError(`Module ${ref.name} has no such member: ${name}`, place)
    if (definition instanceof Const) return definition.value
    if (definition instanceof TableDefinition) return definition
    if (definition instanceof FunctionDefinition) return new Closure(definition, modeOfReference(run))
    throw evalError(`${ref.name}.${name} is a schema, not a value`, place)
  })
}

/** Mode of a function that the running module names through a module reference. */
function modeOfReference({ call }: Run): AccessMode {
  const caller = call.frames.at(-1)?.module
  return caller === undefined ? call.mode : call.mode.calledBy(caller.name)
}

/** Code that consumes an object. */
export type TokenConsumer = (run: Run, env: Env | null, object: ReadonlyMap<string, Term>) => Term

/** A function applied to the object. More arguments are too many. */
export function functionConsumer(fn: Expr, more: readonly Expr[], place: TextPlace): TokenConsumer {
  return (run, env, given) => {
    const callable = callableOf(run.evaluate(fn, env), place)
    if (more.length > 0)
      throw evalError('Failed to apply a function or closure because there were too many arguments.', place)
    return run.apply(callable, [asValue(given as Term)], place)
  }
}

/** The body of a function whose innermost variable is the object. */
export function consumerBody(consume: TokenConsumer, place: TextPlace): Expr {
  return exprOf(place, (run, env) => {
    const object = env?.value
    if (!(object instanceof Map)) throw evalError(`Expected an object, but got: ${typeName(object ?? UNIT)}`, place)
    return consume(run, env, object)
  })
}

interface BoundField {
  readonly name: string
  /** Place of the variable. */
  readonly place: TextPlace
  readonly type: Type | null
}

/** A consumer that costs as a call of a lambda. */
export function chargedConsumer(consume: TokenConsumer): TokenConsumer {
  return (run, env, given) => {
    run.charge(callPrice(1), ofCall(null, 1))
    return consume(run, env, given)
  }
}

/** A body with fields of the object bound to variables. Each field costs as a look-up. */
export function bindingConsumer(fields: readonly BoundField[], body: readonly Expr[], place: TextPlace): TokenConsumer {
  return (run, env, given) => {
    let bound = env
    for (const { name, type, place: at } of fields) {
      run.charge(PRICE.native, ofNative('at', 2), at)
      run.charge(lookupPrice(name, given.size), ofLookup(name, given.size), at)
      const value = given.get(name)
      if (value === undefined)
        throw failure('NO_FIELD', { field: name, object: () => showValue(given as ObjectValue) }, place)
      run.checkType(type, value)
      bound = { value, up: bound }
    }
    return run.sequence(body, bound)
  }
}
