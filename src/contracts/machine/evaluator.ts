/** Evaluates the code of one transaction. All state is in its scopes; it uses no clock, file or network. */
import { ContractError, evalError, type TextPlace } from '../errors.ts'
import { CapabilityToken, UNIT, type Value } from '../values/value.ts'
import {
  type CallScope,
  type Env,
  type Expr,
  Fun,
  type Module,
  type Param,
  type ProgramScope,
  type TransactionScope,
  type Type,
} from './ast.ts'
import { bounded, weightOf } from './bounds.ts'
import { Lambda, NativeFunction, Partial, partlyApplied } from './callables.ts'
import type { BlockScope, GasMeter } from './environment.ts'
import type { ExpandingRun, Language } from './expander.ts'
import { made, madeBy } from './memory-meter.ts'
import { Arguments } from './native.ts'
import { startPact } from './pacts.ts'
import {
  type CallMark,
  grantedCount,
  markCall,
  markProgram,
  markTransaction,
  newCall,
  newProgram,
  restoreCall,
  restoreProgram,
  restoreTransaction,
  type TransactionMark,
} from './scopes.ts'
import { asValue, type Callable, isValue, type Term } from './term.ts'
import { checkType } from './types.ts'

/**
 * Maximum nesting of evaluation steps. A function call counts as one step more than its expression. The JavaScript
 * stack holds more than twice as many steps of any kind.
 */
const MAX_DEPTH = 512
/** Milligas per call of a function other than a native, and per argument; same as on the public network. */
const CALL_COST = 50
const ARGUMENT_COST = 25
/** Milligas per item of a list or object that is type-checked. */
const PART_COST = 10
/** Evaluation steps are free, as on the public network, but each step beyond this number is charged. */
const FREE_STEPS = 10_000
const STEP_COST = 10
/** Milligas of an attempt (plus the state to save) and of a caught failure: exceptions are slow. */
const ATTEMPT_COST = 500
const FAILURE_COST = 1500
/** Milligas per unit of weight of a large event. */
const EVENT_COST = 5
const FREE_EVENT_WEIGHT = 500

/** Snapshot for `back`. */
interface Mark {
  readonly transaction: TransactionMark
  readonly program: ProgramScope
  readonly call: CallMark
}

export class Evaluator implements ExpandingRun {
  readonly natives: Language['natives']
  readonly forms: Language['forms']
  readonly block: BlockScope
  readonly transaction: TransactionScope
  readonly program: ProgramScope = newProgram()
  readonly call: CallScope = newCall()
  readonly #gas: GasMeter
  #steps = 0

  constructor({ natives, forms }: Language, block: BlockScope, transaction: TransactionScope) {
    this.natives = natives
    this.forms = forms
    this.block = block
    this.transaction = transaction
    this.#gas = transaction.gas
  }

  charge(milligas: number): void {
    const gas = this.#gas
    gas.used += milligas
    if (gas.used > gas.limit) throw outOfGas(gas)
  }

  evaluate(expr: Expr, env: Env | null): Term {
    const { call } = this
    if (++this.#steps > FREE_STEPS) this.charge(STEP_COST)
    if (++call.depth > MAX_DEPTH) throw tooDeep(expr.place)
    const term = expr.evaluate(this, env)
    call.depth--
    return term
  }

  sequence(exprs: readonly Expr[], env: Env | null): Term {
    let term: Term = UNIT
    for (const expr of exprs) {
      if (term instanceof Partial) throw partlyApplied(term, expr.place)
      term = this.evaluate(expr, env)
    }
    return term
  }

  value(expr: Expr, env: Env | null): Value {
    return asValue(this.evaluate(expr, env))
  }

  /** Applies a function. With too few arguments, the result is a partially applied function. */
  apply(fn: Callable, args: readonly Term[], place: TextPlace): Term {
    if (fn instanceof NativeFunction) return this.#applyNative(fn, args, place)
    if (fn instanceof Lambda) {
      if (args.length < fn.params.length) return this.#continue(new Partial(fn, []), args, place)
      if (fn.isCharged) this.charge(CALL_COST + ARGUMENT_COST * args.length)
      return asValue(this.sequence(fn.body, this.#bind(fn.params, args, fn.env)))
    }
    if (fn instanceof Fun) return this.callFun(fn, args, place)
    if (fn instanceof Partial) return this.#continue(fn, args, place)
    throw evalError('Cannot apply value to a non-closure.', place)
  }

  callFun(fun: Fun, args: readonly Term[], place: TextPlace): Term {
    const { kind, params } = fun
    if (args.length < params.length && kind === 'defun') {
      return args.length === 0 ? fun : this.#continue(new Partial(fun, []), args, place)
    }
    if (args.length !== params.length) throw tooMany(place)
    this.charge(CALL_COST + ARGUMENT_COST * args.length)
    args.forEach(asValue)
    if (kind === 'defcap') {
      return made(this.transaction, bounded(new CapabilityToken(fun.qualified, args.map(asValue))))
    }
    if (kind === 'defpact') return startPact(this, fun, args.map(asValue), place)
    return this.runBody(fun, args, place)
  }

  /**
   * Applies a partially applied function to more arguments. Each application is charged and checks its own arguments.
   * Natives check and charge nothing until they are complete.
   */
  #continue({ fn, args }: Partial, more: readonly Term[], place: TextPlace): Term {
    const all = [...args, ...more]
    if (fn instanceof NativeFunction) return this.#applyNative(fn, all, place)
    const { params } = fn
    this.charge(CALL_COST + ARGUMENT_COST * more.length)
    if (all.length > params.length) throw tooMany(place)
    more.forEach(asValue)
    for (let i = args.length; i < all.length; i++) this.checkType(params[i].type, all[i])
    if (all.length < params.length) return new Partial(fn, all)
    if (fn instanceof Fun) return this.#runChecked(fn, all, place)
    return asValue(this.sequence(fn.body, extend(fn.env, all)))
  }

  runBody(fun: Fun, args: readonly Term[], place: TextPlace): Term {
    const isReading = this.#enter(fun, place)
    return this.#finish(fun, this.#bind(fun.params, args, null), isReading)
  }

  /** As `runBody`, for arguments that are checked. */
  #runChecked(fun: Fun, args: readonly Term[], place: TextPlace): Term {
    const isReading = this.#enter(fun, place)
    return this.#finish(fun, extend(null, args), isReading)
  }

  /** Runs the body of an entered function, and leaves it. */
  #finish(fun: Fun, env: Env | null, isReading: boolean): Term {
    const result = asValue(this.sequence(fun.body, env))
    this.checkType(fun.result, result)
    this.#leave(isReading)
    return result
  }

  runStep(fun: Fun, step: Expr, args: readonly Value[], place: TextPlace): Term {
    const isReading = this.#enter(fun, place)
    const result = this.evaluate(step, this.#bind(fun.params, args, null))
    this.#leave(isReading)
    return result
  }

  checkType(type: Type | null, term: Term): void {
    if (type !== null && this.block.rules.areTypesChecked) checkType(type, term, this.#payParts)
  }

  readonly #payParts = (parts: number): void => this.charge(PART_COST * parts)

  /**
   * Enters a function.
   * @returns whether the call is read-only
   * @throws EvalError on recursion
   */
  #enter(fun: Fun, place: TextPlace): boolean {
    const { call } = this
    const { frames } = call
    let isCalled = false
    for (const frame of frames) {
      const isSame = frame.module === fun.module
      if (!isSame && !frame.module.isSame(fun.module)) continue
      if (isSame ? frame === fun : frame.name === fun.name) {
        throw evalError(`Recursion detected by the runtime. Recursing in function: ${fun.qualified}`, place)
      }
      isCalled = true
    }
    // Code that calls back into a module on the stack, through a module reference, runs it read-only.
    const isReading = isCalled && !fun.module.isSame(this.module)
    if (++call.depth > MAX_DEPTH) throw tooDeep(place)
    frames.push(fun)
    if (isReading) call.readOnly++
    return isReading
  }

  /** Leaves a function. Errors skip this: the catcher restores a snapshot or discards the evaluator. */
  #leave(isReading: boolean): void {
    const { call } = this
    call.frames.pop()
    call.depth--
    if (isReading) call.readOnly--
  }

  #bind(params: readonly Param[], args: readonly Term[], env: Env | null): Env | null {
    if (args.length > params.length) throw tooMany(null)
    for (let i = 0; i < params.length; i++) this.checkType(params[i].type, args[i])
    return extend(env, args)
  }

  #applyNative(fn: NativeFunction, args: readonly Term[], place: TextPlace): Term {
    const { native, arity } = fn
    const { call } = this
    if (args.length < arity) return args.length === 0 ? fn : new Partial(fn, args)
    if (args.length > arity) throw tooMany(place)
    this.charge(fn.price)
    const around = call.nativePlace
    call.nativePlace = place
    if (++call.depth > MAX_DEPTH) throw tooDeep(place)
    const result = native.run(new Arguments(native.name, args, this, place))
    call.depth--
    if (isValue(result)) madeBy(this.transaction, native.name, bounded(result))
    call.nativePlace = around
    return result
  }

  get module(): Module | null {
    const { frames } = this.call
    return frames.length === 0 ? this.program.loading : frames[frames.length - 1].module
  }

  findModule(name: string): Module | undefined {
    return this.transaction.state.get<Module>('modules', name)
  }

  emit(fun: Fun, params: readonly Value[]): void {
    const { module, name } = fun
    const weight = weightOf(params)
    if (weight > FREE_EVENT_WEIGHT) this.charge(EVENT_COST * weight)
    this.transaction.events.push({ module: module.name, name, params, moduleHash: module.hash })
  }

  readingOf(expr: Expr, env: Env | null): Term {
    const { call } = this
    call.readOnly++
    const term = this.evaluate(expr, env)
    call.readOnly--
    return term
  }

  reading<T>(body: () => T): T {
    const { call } = this
    call.readOnly++
    const result = body()
    call.readOnly--
    return result
  }

  attempt<T>(body: () => T, caught: (error: ContractError) => T): T {
    const { transaction, call } = this
    const { admin, installed } = transaction
    this.charge(ATTEMPT_COST + call.frames.length + admin.size + installed.length + grantedCount(call))
    // The program scope is not part of the snapshot: imports and namespaces at the top level persist.
    const [before, callBefore] = [markTransaction(transaction), markCall(call)]
    try {
      return body()
    } catch (error) {
      if (!(error instanceof ContractError) || error.kind !== 'TxFailure') throw error
      restoreTransaction(transaction, before)
      restoreCall(call, callBefore)
      this.charge(FAILURE_COST)
      return caught(error)
    }
  }

  /** Takes a snapshot of all scopes, for `back`. */
  mark(): Mark {
    const { transaction, program, call } = this
    return { transaction: markTransaction(transaction), program: markProgram(program), call: markCall(call) }
  }

  /** Restores all scopes. Writes to the layer of the snapshot and used gas remain. */
  back(mark: Mark): void {
    restoreTransaction(this.transaction, mark.transaction)
    restoreProgram(this.program, mark.program)
    restoreCall(this.call, mark.call)
  }
}

/** Adds variables to an environment. */
function extend(env: Env | null, values: readonly Term[]): Env | null {
  let extended = env
  for (const value of values) extended = { value, up: extended }
  return extended
}

function outOfGas({ used, limit }: GasMeter): ContractError {
  return evalError(`Gas limit "${Math.floor(limit / 1000)}" exceeded: ${Math.ceil(used / 1000)}`)
}

function tooDeep(place: TextPlace): ContractError {
  return evalError(`the code is nested too deeply: at most ${MAX_DEPTH} steps within each other`, place)
}

function tooMany(place: TextPlace | null): ContractError {
  return evalError('Failed to apply a function or closure because there were too many arguments.', place)
}
