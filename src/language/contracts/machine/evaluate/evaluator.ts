/** Evaluates the code of one transaction. All state is in its scopes; it uses no clock, file or network. */
import { ContractError, evalError, NOWHERE, type TextPlace } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import { type Type, UNIT, type Value } from '../../values/value.ts'
import type { AccessMode } from '../access-mode.ts'
import {
  type CallScope,
  type Env,
  type Expr,
  FunctionDefinition,
  type Module,
  type ProgramScope,
  type TransactionScope,
} from '../ast.ts'
import { Closure, incompleteCallError, Lambda, NativeFunction, PartialApplication } from '../callables.ts'
import type { BlockScope, GasMeter } from '../environment.ts'
import type { ExpandingRun, Language } from '../expand/expander.ts'
import type { ExpansionProbe } from '../expand/probe.ts'
import { checkSize, measureWork, weightOf } from '../gas/bounds.ts'
import { type CostName, ofCall, ofNative } from '../gas/cost-names.ts'
import { countMemory, countResultMemory } from '../gas/memory-meter.ts'
import { callPrice, PRICE } from '../gas/prices.ts'
import { storedModule } from '../loaded-modules.ts'
import type { ModuleLookup } from '../module-lookup.ts'
import { Arguments } from '../native.ts'
import { tokenOf } from '../rights/capabilities.ts'
import {
  type CallSnapshot,
  grantedCount,
  newCall,
  newProgram,
  restoreCall,
  restoreProgram,
  restoreRights,
  restoreTransaction,
  snapshotCall,
  snapshotProgram,
  snapshotTransaction,
  type TransactionSnapshot,
} from '../scopes.ts'
import { asValue, type Callable, isValue, type Term } from '../term.ts'
import type { Tracer } from '../tracer.ts'
import { checkType } from '../types.ts'
import { startPact } from './pacts.ts'

/**
 * Maximum nesting of evaluation steps. A function call counts as one step more than its expression. The JavaScript
 * stack holds more than twice as many steps of any kind.
 */
const MAX_DEPTH = 512
/** Work beyond the gas limit that every command may do, about 7 ms: small limits then depend on prices only. */
const FREE_WORK = 1_000_000
/** Work of an evaluation step beyond the first ones. */
const [FREE_STEPS, STEP_WORK] = [10_000, 10]
/** Work of an attempt (plus the state to save) and of a caught failure: exceptions are slow. */
const ATTEMPT_WORK = 500
const FAILURE_WORK = 1500
/** Work of a new capability token, whose arguments are measured. */
const TOKEN_WORK = 150
/** Work per unit of weight of a large event. */
const EVENT_WORK = 5
const FREE_EVENT_WEIGHT = 500

/** Snapshot for `back`. */
interface EvaluatorSnapshot {
  readonly transaction: TransactionSnapshot
  readonly program: ProgramScope
  readonly call: CallSnapshot
}

export class Evaluator implements ExpandingRun {
  readonly block: BlockScope
  readonly transaction: TransactionScope
  readonly program: ProgramScope = newProgram()
  readonly call: CallScope = newCall()
  readonly tracer: Tracer | null = null
  readonly probe: ExpansionProbe | null = null
  readonly #gas: GasMeter
  #language: Language
  #steps = 0

  constructor(language: Language, block: BlockScope, transaction: TransactionScope) {
    this.#language = language
    this.block = block
    this.transaction = transaction
    this.#gas = transaction.gas
  }

  get natives(): Language['natives'] {
    return this.#language.natives
  }

  get forms(): Language['forms'] {
    return this.#language.forms
  }

  get reserved(): Language['reserved'] {
    return this.#language.reserved
  }

  /** Changes the functions and forms that code expanded from now on can name. */
  useLanguage(language: Language): void {
    this.#language = language
  }

  /** @throws EvalError if the gas used exceeds the limit */
  charge(milligas: number, name?: CostName | undefined, place?: TextPlace): void {
    const gas = this.#gas
    gas.used += milligas
    if (gas.note !== undefined) gas.note({ milligas, name, place: place ?? this.call.nativePlace, module: this.module })
    if (gas.used > gas.limit) throw outOfGas(gas)
  }

  /** @throws EvalError if the work exceeds what the gas limit allows */
  work(units: number): void {
    const gas = this.#gas
    gas.work = (gas.work ?? 0) + units
    if (gas.work > gas.limit + FREE_WORK) throw outOfGas(gas)
  }

  get gasLeft(): number {
    return this.#gas.limit - this.#gas.used
  }

  /** @throws EvalError if the code is nested too deeply, and the errors of the expression */
  evaluate(expr: Expr, env: Env | null): Term {
    const { call } = this
    if (++this.#steps > FREE_STEPS) this.work(STEP_WORK)
    if (++call.depth > MAX_DEPTH) throw tooDeep(expr.place)
    const term = expr.evaluate(this, env)
    call.depth--
    return term
  }

  /** @throws EvalError if an expression before the last one is an incomplete call */
  sequence(exprs: readonly Expr[], env: Env | null): Term {
    let term: Term = UNIT
    for (const expr of exprs) {
      if (term instanceof PartialApplication) throw incompleteCallError(term, expr.place)
      term = this.evaluate(expr, env)
    }
    return term
  }

  value(expr: Expr, env: Env | null): Value {
    return asValue(this.evaluate(expr, env))
  }

  /**
   * Applies a function. With too few arguments, the result is a partially applied function.
   * @throws ContractError if there are too many arguments, or the function fails
   */
  apply(fn: Callable, args: readonly Term[], place: TextPlace): Term {
    if (fn instanceof NativeFunction) return this.#applyNative(fn, args, place)
    if (fn instanceof Closure) {
      const { call } = this
      const around = call.mode
      call.mode = fn.mode
      const result = this.apply(fn.fn, args, place)
      call.mode = around
      return result
    }
    if (fn instanceof Lambda) {
      if (args.length < fn.params.length) return this.#continue(new PartialApplication(fn, [], fn.mode), args, place)
      if (args.length > fn.params.length) throw tooManyArguments(place)
      if (args.length > 0) this.charge(callPrice(args.length), this.#gas.note && ofCall(null, args.length), place)
      // A complete call of a lambda checks no types, only a partial one does.
      return this.#runLambda(fn, args)
    }
    if (fn instanceof FunctionDefinition) return this.callFun(fn, args, place)
    if (fn instanceof PartialApplication) return this.#continue(fn, args, place)
    throw evalError('Cannot apply value to a non-closure.', place)
  }

  /** @throws EvalError for a wrong number of arguments or a wrong type, and the errors of the function */
  callFun(fun: FunctionDefinition, args: readonly Term[], place: TextPlace): Term {
    const { kind, params } = fun
    if (args.length < params.length && kind === 'defun') {
      return args.length === 0
        ? new Closure(fun, this.call.mode)
        : this.#continue(new PartialApplication(fun, [], this.call.mode), args, place)
    }
    if (args.length !== params.length) throw tooManyArguments(place)
    if (args.length > 0 || kind !== 'defun')
      this.charge(callPrice(args.length), this.#gas.note && ofCall(fun, args.length), place)
    requireValues(args)
    for (let i = 0; i < params.length; i++) this.checkType(params[i].type, args[i])
    if (kind === 'defcap') {
      this.work(TOKEN_WORK + measureWork(args))
      return countMemory(this.transaction, checkSize(tokenOf(this, fun, args)))
    }
    if (kind === 'defpact') return startPact(this, fun, args, place)
    return this.runBody(fun, args, place)
  }

  /**
   * Applies a partially applied function to more arguments. Each application is charged and checks its own arguments.
   * Natives check and charge nothing until they are complete.
   */
  #continue({ fn, args, mode }: PartialApplication, more: readonly Term[], place: TextPlace): Term {
    const all = [...args, ...more]
    if (fn instanceof NativeFunction) return this.inMode(mode, () => this.#applyNative(fn, all, place))
    const { params } = fn
    this.charge(callPrice(more.length), ofCall(fn instanceof FunctionDefinition ? fn : null, more.length), place)
    if (all.length > params.length) throw tooManyArguments(place)
    requireValues(more)
    for (let i = args.length; i < all.length; i++) this.checkType(params[i].type, all[i])
    if (all.length < params.length) return new PartialApplication(fn, all, mode)
    if (fn instanceof FunctionDefinition) return this.inMode(mode, () => this.runBody(fn, all, place))
    return this.#runLambda(fn, all)
  }

  #runLambda({ body, env, mode }: Lambda, args: readonly Term[]): Term {
    const { call } = this
    const around = call.mode
    call.mode = mode
    const result = asValue(this.sequence(body, extend(env, args)))
    call.mode = around
    return result
  }

  runBody(fun: FunctionDefinition, args: readonly Term[], place: TextPlace): Term {
    const around = this.#enter(fun, place)
    const result = asValue(this.sequence(fun.body, extend(null, args)))
    if (this.block.rules.areResultsChecked) this.checkType(fun.result, result)
    this.#leave(around)
    return result
  }

  runCapability(fun: FunctionDefinition, args: readonly Value[]): void {
    const { call } = this
    const outside = call.mode
    call.mode = outside.inCapability
    // Managed capabilities and events run in the mode of their caller, even if their module is called back.
    const around = this.#enter(fun, NOWHERE, fun.managed === null && !fun.isEvent)
    asValue(this.sequence(fun.body, extend(null, args)))
    this.#leave(around)
    call.mode = outside
  }

  /** @throws EvalError if there are too many arguments, and the errors of the step */
  runStep(fun: FunctionDefinition, step: Expr, args: readonly Value[], place: TextPlace): Term {
    if (args.length > fun.params.length) throw tooManyArguments(place)
    const around = this.#enter(fun, place)
    const result = this.evaluate(step, extend(null, args))
    this.#leave(around)
    return result
  }

  checkType(type: Type | null, term: Term): void {
    if (type !== null) checkType(type, term, this.#payParts)
  }

  readonly #payParts = (parts: number): void => this.charge(PRICE.typeCheck * parts)

  /**
   * Enters a function. A function of a module that called this code through a module reference runs read-only.
   * @returns the mode around it
   * @throws EvalError on recursion, also through another version of its module
   */
  #enter(fun: FunctionDefinition, place: TextPlace, mayCallBack = true): AccessMode {
    const { call } = this
    const { frames, mode } = call
    const { nameHash, qualified } = fun
    for (let i = 0; i < frames.length; i++) {
      const frame = frames[i]
      if (frame.nameHash === nameHash && frame.qualified === qualified) {
        throw failure('RECURSION', { name: qualified }, place)
      }
    }
    if (++call.depth > MAX_DEPTH) throw tooDeep(place)
    frames.push(fun)
    if (mayCallBack && mode.callers.has(fun.module.name) && this.block.rules.isReentrancyChecked) {
      call.mode = mode.readOnly
    }
    return mode
  }

  /** Leaves a function. Errors skip this: the catcher restores a snapshot or discards the evaluator. */
  #leave(around: AccessMode): void {
    const { call } = this
    call.frames.pop()
    call.depth--
    call.mode = around
  }

  #applyNative(fn: NativeFunction, args: readonly Term[], place: TextPlace): Term {
    const { native, arity } = fn
    const { call } = this
    if (args.length < arity)
      return args.length === 0 ? new Closure(fn, call.mode) : new PartialApplication(fn, args, call.mode)
    if (args.length > arity) throw tooManyArguments(place)
    this.charge(fn.price, this.#gas.note && ofNative(native.name, args.length), place)
    if (fn.work !== null) this.work(fn.work(args))
    const around = call.nativePlace
    call.nativePlace = place
    if (++call.depth > MAX_DEPTH) throw tooDeep(place)
    const result = native.run(new Arguments(native.name, args, this, place))
    call.depth--
    if (isValue(result)) countResultMemory(this.transaction, native.name, checkSize(result))
    call.nativePlace = around
    return result
  }

  get module(): Module | null {
    const { frames } = this.call
    return frames.length === 0 ? this.program.loading : frames[frames.length - 1].module
  }

  findModule(name: string, by: ModuleLookup = 'running'): Module | undefined {
    const found = storedModule(this, name)
    if (found !== undefined) this.noteLookup(found, by)
    return found
  }

  noteLookup(module: Module, by: ModuleLookup, place?: TextPlace): void {
    this.program.loaded.noteLookup(module, by, this, place)
  }

  emit(fun: FunctionDefinition, params: readonly Value[]): void {
    if (!this.block.rules.areEventsEmitted) return
    const { module, name } = fun
    const weight = weightOf(params) + module.name.length
    if (weight > FREE_EVENT_WEIGHT) this.work(EVENT_WORK * weight)
    this.transaction.events.push({ module: module.name, name, params, moduleHash: this.#hashInEvents(module) })
  }

  /** Hash of the version that emits, or of the current one under an old rule. */
  #hashInEvents(module: Module): string {
    if (!this.block.rules.areEventHashesCurrent) return module.hash
    return this.findModule(module.name)?.hash ?? module.hash
  }

  inMode<T>(mode: AccessMode, body: () => T): T {
    const { call } = this
    const around = call.mode
    call.mode = mode
    const result = body()
    call.mode = around
    return result
  }

  attempt<T>(body: () => T, caught: (error: ContractError) => T): T {
    const { transaction, call } = this
    const { admin, installed } = transaction
    this.work(ATTEMPT_WORK + call.frames.length + admin.size + installed.length + grantedCount(call))
    // The program scope is not part of the snapshot: imports and namespaces at the top level persist.
    const [before, callBefore] = [snapshotTransaction(transaction), snapshotCall(call)]
    try {
      return body()
    } catch (error) {
      if (!(error instanceof ContractError) || error.kind !== 'TxFailure') throw error
      restoreRights(transaction, before)
      restoreCall(call, callBefore)
      this.work(FAILURE_WORK)
      return caught(error)
    }
  }

  /** Takes a snapshot of all scopes, for `back`. */
  snapshot(): EvaluatorSnapshot {
    const { transaction, program, call } = this
    return {
      transaction: snapshotTransaction(transaction),
      program: snapshotProgram(program),
      call: snapshotCall(call),
    }
  }

  /** Restores all scopes. Writes to the layer of the snapshot and used gas remain. */
  restore(mark: EvaluatorSnapshot): void {
    restoreTransaction(this.transaction, mark.transaction)
    restoreProgram(this.program, mark.program)
    restoreCall(this.call, mark.call)
  }
}

/** @throws EvalError if one of the terms is a function */
function requireValues(terms: readonly Term[]): asserts terms is readonly Value[] {
  for (const term of terms) asValue(term)
}

/** Adds variables to an environment. */
function extend(env: Env | null, values: readonly Term[]): Env | null {
  let extended = env
  for (const value of values) extended = { value, up: extended }
  return extended
}

function outOfGas({ used, limit, work = 0 }: GasMeter): ContractError {
  return evalError(`Gas limit "${Math.ceil(limit / 1000)}" exceeded: ${Math.ceil(Math.max(used, work) / 1000)}`)
}

function tooDeep(place: TextPlace): ContractError {
  return evalError(`the code is nested too deeply: at most ${MAX_DEPTH} steps within each other`, place)
}

function tooManyArguments(place: TextPlace | null): ContractError {
  return evalError('Failed to apply a function or closure because there were too many arguments.', place)
}
