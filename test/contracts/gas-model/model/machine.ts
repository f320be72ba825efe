/**
 * Evaluates terms (Pact/Core/IR/Eval/CEK/Evaluator.hs: evaluateTerm, applyCont, applyLam), and charges as it goes
 * (PROTOCOL.md E.5).
 */
import { evaluateCapability } from './capabilities.ts'
import { asValue, type Closure, type Env, isClosure, type Result, readOnly } from './env.ts'
import { NATIVE_CODE } from './native-code.ts'
import { NATIVES } from './natives.ts'
import { startPact } from './pacts.ts'
import { Fatal, type Frame, Recoverable, type State } from './state.ts'
import { bool, type Core, type Def, type Fqn, type Guard, type Kind, objectOf, type Ty, type Value } from './terms.ts'
import { checkType } from './typecheck.ts'

export class Machine {
  readonly state: State

  constructor(state: State) {
    this.state = state
  }

  eval(env: Env, term: Core): Result {
    switch (term.k) {
      case 'var':
        return this.#variable(env, term.name.n, term.name.kind)
      case 'constant':
        return term.value
      case 'native': {
        const { arity } = NATIVES.get(term.native) as { arity: number }
        return { c: 'native', name: term.native, env, arity, given: [] }
      }
      case 'nullary':
        return { c: 'lambda', params: null, body: term.body, env }
      case 'lam':
        return { c: 'lambda', params: term.args, body: term.body, env }
      case 'app': {
        const fn = this.#callable(this.eval(env, term.fn))
        return this.apply(
          fn,
          term.args.map((arg) => this.eval(env, arg)),
        )
      }
      case 'let': {
        const value = this.eval(env, term.e1)
        if (!isClosure(value)) this.check(value, term.arg.ty)
        return this.eval({ ...env, locals: [value, ...env.locals] }, term.e2)
      }
      case 'seq': {
        const first = this.eval(env, term.e1)
        if (isClosure(first) && (first.c === 'partial' || (first.c === 'native' && first.given.length > 0))) {
          throw new Fatal('partial application in a sequence')
        }
        return this.eval(env, term.e2)
      }
      case 'list':
        this.state.charge(term.items.length * 100)
        return { v: 'list', items: term.items.map((item) => this.value(env, item)) }
      case 'object':
        this.state.charge(term.fields.length * 100)
        return objectOf(term.fields.map(([field, value]) => [field, this.value(env, value)] as const))
      case 'special':
        this.state.note(`form: ${term.form}`)
        return this.#special(env, term.form, term.terms)
    }
  }

  value(env: Env, term: Core): Value {
    return asValue(this.eval(env, term))
  }

  check(value: Value, ty: Ty | null): void {
    if (ty !== null && !checkType(this.state, ty, value)) throw new Fatal('type')
  }

  bool(result: Result): boolean {
    const value = asValue(result)
    if (value.v !== 'bool') throw new Fatal('expected bool')
    return value.b
  }

  #variable(env: Env, name: string, kind: Kind): Result {
    switch (kind.k) {
      case 'bound':
        return env.locals[kind.index]
      case 'modref':
        this.state.note('value: module reference')
        return { v: 'modref', module: kind.m, faces: kind.faces }
      case 'top':
        return this.topLevel(env, { m: kind.m, n: name, h: kind.h })
      case 'dynamic': {
        const reference = env.locals[kind.index]
        if (isClosure(reference) || reference.v !== 'modref') throw new Fatal('not a module reference')
        const { hash } = this.state.getModule(reference.module, 'm::f')
        const { caller } = this.state
        const reentrant = caller === null ? env.reentrant : new Set([...env.reentrant, caller])
        return this.topLevel({ ...env, reentrant }, { m: reference.module, n: kind.member, h: hash })
      }
    }
  }

  /** A definition as a value. */
  topLevel(env: Env, fqn: Fqn): Result {
    const def = this.state.findDef(fqn)
    switch (def.d) {
      case 'defun':
        return functionOf(fqn, def, env)
      case 'defconst':
        if (!('value' in def.value)) throw new Fatal('constant before its evaluation')
        return def.value.value
      case 'defpact':
        return { c: 'pact', fqn, params: def.args.length === 0 ? null : def.args, env }
      case 'deftable':
        return { v: 'table', module: fqn.m, name: def.name, hash: fqn.h, schema: def.schema }
      case 'defcap':
        return { c: 'token', fqn, types: def.args.map(({ ty }) => ty) }
      case 'defschema':
        throw new Fatal('a schema is not a value')
    }
  }

  #special(env: Env, form: string, terms: readonly Core[]): Result {
    const [first, second, third] = terms
    switch (form) {
      case 'and':
        return this.bool(this.eval(env, first)) ? bool(this.bool(this.eval(env, second))) : bool(false)
      case 'or':
        return this.bool(this.eval(env, first)) ? bool(true) : bool(this.bool(this.eval(env, second)))
      case 'if':
        return this.eval(env, this.bool(this.eval(env, first)) ? second : third)
      case 'enforce': {
        const inner = readOnly(env)
        if (this.bool(this.eval(inner, first))) return bool(true)
        return this.#fail(inner, second)
      }
      case 'enforce-one':
        return this.#enforceOne(env, first, second)
      case 'try':
        return this.#try(env, first, second)
      case 'with-capability': {
        if (env.inCap) throw new Fatal('with-capability in a capability')
        const token = this.value(env, first)
        if (token.v !== 'token') throw new Fatal('expected a capability')
        this.state.guardForModuleCall(token.fqn.m)
        return evaluateCapability(this, env, token, 'invoke', () => this.eval(env, second))
      }
      case 'create-user-guard':
        return this.#userGuard(env, first)
      case 'pure':
        return this.eval(readOnly(env), first)
      case 'error':
        return this.#fail(env, first)
      default:
        throw new Error(form)
    }
  }

  /** The text of a failure is evaluated only then. */
  #fail(env: Env, text: Core): never {
    if (this.value(env, text).v !== 'string') throw new Fatal('expected a text')
    throw new Recoverable()
  }

  #try(env: Env, otherwise: Core, body: Core): Result {
    this.state.charge(100)
    const before = this.state.restorable()
    try {
      return this.eval(readOnly(env), body)
    } catch (error) {
      if (!(error instanceof Recoverable)) throw error
      Object.assign(this.state, before)
      this.state.note('failure that try catches')
      return this.eval(env, otherwise)
    }
  }

  #enforceOne(env: Env, text: Core, conditions: Core): Result {
    if (conditions.k !== 'list') throw new Fatal('expected a list of conditions')
    if (conditions.items.length > 0) this.state.charge(100)
    const before = this.state.restorable()
    const inner = readOnly(env)
    for (const condition of conditions.items) {
      try {
        if (this.bool(this.eval(inner, condition))) return bool(true)
      } catch (error) {
        if (!(error instanceof Recoverable)) throw error
        this.state.note('failure that enforce-one catches')
      }
      Object.assign(this.state, before)
    }
    return this.#fail(inner, text)
  }

  #userGuard(env: Env, term: Core): Result {
    if (term.k !== 'app' || term.fn.k !== 'var' || term.fn.name.kind.k !== 'top') throw new Fatal('expected a call')
    const { name } = term.fn
    const { m, h } = term.fn.name.kind
    const args = term.args.map((arg) => this.value(env, arg))
    if (this.state.findDef({ m, n: name.n, h }).d !== 'defun') throw new Fatal('a user guard is a function')
    const g: Guard = { g: 'user', fun: `${m}.${name.n}`, args }
    return { v: 'guard', g }
  }

  #callable(result: Result): Closure {
    if (!isClosure(result) || result.c === 'partial' || (result.c === 'native' && result.given.length > 0)) {
      throw new Fatal('not callable')
    }
    return result
  }

  #chargeCall(count: number): void {
    this.state.charge(count * 25 + 50)
  }

  apply(fn: Closure, args: readonly Result[]): Result {
    switch (fn.c) {
      case 'fun':
        return this.#applyFunction(fn, args)
      case 'lambda':
        return this.#applyLambda(fn, args)
      case 'partial':
        this.#chargeCall(args.length)
        return this.#bindSome(fn.frame, fn, args)
      case 'native':
        return this.#applyNative(fn, args)
      case 'pact': {
        if (args.length !== (fn.params?.length ?? 0)) throw new Fatal('arguments of a pact')
        this.#chargeCall(args.length)
        const values = args.map(asValue)
        values.forEach((value, i) => {
          this.check(value, fn.params?.[i].ty ?? null)
        })
        this.state.note('call: pact')
        return startPact(this, { ...fn.env, locals: [...values].reverse() }, fn.fqn, values)
      }
      case 'token': {
        if (args.length !== fn.types.length) throw new Fatal('arguments of a capability')
        this.#chargeCall(args.length)
        const values = args.map(asValue)
        values.forEach((value, i) => {
          this.check(value, fn.types[i])
        })
        return { v: 'token', fqn: fn.fqn, args: values }
      }
    }
  }

  /** A call without parameters costs nothing. */
  #applyFunction(fn: Extract<Closure, { readonly c: 'fun' }>, args: readonly Result[]): Result {
    const { params, fqn, body, result, env } = fn
    const frame: Frame = { fqn, kind: 'defun' }
    if (params === null) {
      if (args.length > 0) throw new Fatal('too many arguments')
      return this.callWithFrame({ ...env, locals: [] }, result, frame, body)
    }
    if (args.length > params.length) throw new Fatal('too many arguments')
    if (args.length === 0) return fn
    this.#chargeCall(args.length)
    if (args.length < params.length) {
      this.state.note('call: part of the arguments')
      return this.#bindSome(frame, { params, body, result, env: { ...env, locals: [] } }, args)
    }
    const values = args.map(asValue)
    values.forEach((value, i) => {
      this.check(value, params[i].ty)
    })
    return this.callWithFrame({ ...env, locals: [...args].reverse() }, result, frame, body)
  }

  /** All arguments of a lambda at once are not checked. */
  #applyLambda(fn: Extract<Closure, { readonly c: 'lambda' }>, args: readonly Result[]): Result {
    const { params, body, env } = fn
    if (args.length > (params?.length ?? 0)) throw new Fatal('too many arguments')
    if (params === null) return asValue(this.eval(env, body))
    this.#chargeCall(args.length)
    if (args.length < params.length) return this.#bindSome(null, { params, body, result: null, env }, args)
    return asValue(this.eval({ ...env, locals: [...[...args].reverse(), ...env.locals] }, body))
  }

  #bindSome(
    frame: Frame | null,
    {
      params,
      body,
      result,
      env,
    }: Pick<Extract<Closure, { readonly c: 'partial' }>, 'params' | 'body' | 'result' | 'env'>,
    args: readonly Result[],
  ): Result {
    if (args.length > params.length) throw new Fatal('too many arguments')
    let { locals } = env
    args.forEach((arg, i) => {
      const value = asValue(arg)
      this.check(value, params[i].ty)
      locals = [value, ...locals]
    })
    const inner = { ...env, locals }
    const rest = params.slice(args.length)
    if (rest.length > 0) return { c: 'partial', frame, params: rest, body, result, env: inner }
    return frame === null ? asValue(this.eval(inner, body)) : this.callWithFrame(inner, result, frame, body)
  }

  /** A native is paid when it has all its arguments. */
  #applyNative(fn: Extract<Closure, { readonly c: 'native' }>, args: readonly Result[]): Result {
    const { name, env, arity, given } = fn
    const all = [...given, ...args]
    if (all.length > arity) throw new Fatal('too many arguments')
    if (all.length < arity) return { ...fn, given: all }
    this.state.charge(NATIVES.get(name)?.price ?? 0)
    this.state.note(`native: ${name}`)
    const code = NATIVE_CODE.get(name)
    if (code === undefined) throw new Error(`the model lacks ${name}`)
    return code(this, env, all)
  }

  /** Functions of modules that called through a reference may only read (evalWithStackFrame, StackPopC). */
  callWithFrame(env: Env, result: Ty | null, frame: Frame, body: Core): Value {
    return this.state.withFrame(frame, () => {
      const inner = env.reentrant.has(frame.fqn.m) ? readOnly(env) : env
      const value = this.value(inner, body)
      if (this.state.areResultsChecked) this.check(value, result)
      return value
    })
  }

  /** Items of a list that a function gets cost 100 each (chargeUnconsWork). */
  chargeItem(): void {
    this.state.charge(100)
  }
}

export function functionOf(fqn: Fqn, def: Extract<Def, { readonly d: 'defun' }>, env: Env): Closure {
  const body = def.term.k === 'nullary' || def.term.k === 'lam' ? def.term.body : def.term
  return { c: 'fun', fqn, params: def.args.length === 0 ? null : def.args, body, result: def.spec.ty, env }
}
