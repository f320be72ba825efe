/**
 * Runs the code of one command: what it may see (environment), what it has changed so far (the top layer of the state,
 * events, capabilities), and what it may still use (gas, depth). Nothing here knows a clock, a file or a network.
 */
import { ContractError, evalError, type Place } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { sizeOf } from '../values/size.ts'
import { CapabilityToken, type ObjectValue, UNIT, type Value } from '../values/value.ts'
import type { Definition } from './ast.ts'
import { Fun, type Module, type Param } from './ast.ts'
import { Lambda, NativeFunction, Partial } from './callables.ts'
import { Capabilities } from './capabilities.ts'
import { LIMIT } from './costs.ts'
import type { ContractEvent, Environment, GasMeter } from './environment.ts'
import type { Env, Expr } from './expr.ts'
import { Arguments } from './native.ts'
import { type PactRun, startPact } from './pacts.ts'
import type { Layer } from './state.ts'
import { asValue, Callable, TableRef, type Term } from './term.ts'
import { checkType, type Type } from './types.ts'

/**
 * Most steps within each other: expressions, and calls of functions, which count once more. The stack of JavaScript
 * holds more than twice as many, whatever they are.
 */
const MAX_DEPTH = 512
/** Thousandths of gas, as on the public network: a call of a function that is no native, and each of its arguments. */
const CALL_COST = 50
const ARGUMENT_COST = 25
/** Each item of a list or an object that is looked at for its type. */
const PART_COST = 10
/** Expressions that are evaluated are free, as on the public network, but to those that take very many. */
const FREE_STEPS = 10_000
const STEP_COST = 10
/** What may fail, beside what there is to keep, and what did: errors are slow. */
const ATTEMPT_COST = 500
const FAILURE_COST = 1500
/** Per unit of size of an event that is large. */
const EVENT_COST = 5
const FREE_EVENT_WEIGHT = 500

export class Evaluator {
  environment: Environment
  state: Layer
  readonly gas: GasMeter
  readonly natives: ReadonlyMap<string, NativeFunction | Value>
  readonly capabilities = new Capabilities(this)
  /** Functions of modules whose calls are under way, the outermost first. */
  frames: Fun[] = []
  events: ContractEvent[] = []
  /** Members of modules in scope at the top level. */
  imports = new Map<string, Definition>()
  namespace: string | null = null
  /** Names of modules whose administrator the command is. */
  admin = new Set<string>()
  /** Tests, guards and the like may not write. */
  readOnly = 0
  /** The pact under way. */
  pact: PactRun | null = null
  /** The pact that this command has begun or continued, once it is done. */
  lastPact: PactRun | null = null
  /** Whether this command has begun or continued a pact: it may do so once. */
  hasRunPact = false
  /** The module that is being loaded. */
  loading: Module | null = null
  #depth = 0
  #steps = 0
  /** Of the innermost call of a native that is under way. */
  #nativePlace: Place | null = null

  constructor(
    environment: Environment,
    state: Layer,
    gas: GasMeter,
    natives: ReadonlyMap<string, NativeFunction | Value>,
  ) {
    this.environment = environment
    this.state = state
    this.gas = gas
    this.natives = natives
  }

  /** Takes thousandths of gas. Throws EvalError when the limit is exceeded. */
  charge(milligas: number): void {
    const { gas } = this
    gas.used += milligas
    if (gas.used > gas.limit) throw outOfGas(gas)
  }

  /** Evaluates with a bound on the depth. */
  evaluate(expr: Expr, env: Env | null): Term {
    if (++this.#steps > FREE_STEPS) this.charge(STEP_COST)
    if (++this.#depth > MAX_DEPTH) throw tooDeep(expr.place)
    const term = expr.evaluate(this, env)
    this.#depth--
    return term
  }

  /** Evaluates all, in order. */
  evaluateAll(exprs: readonly Expr[], env: Env | null): Term[] {
    const terms: Term[] = []
    for (const expr of exprs) terms.push(this.evaluate(expr, env))
    return terms
  }

  /** Puts the depth back after an error that was caught. */
  get depth(): number {
    return this.#depth
  }

  set depth(depth: number) {
    this.#depth = depth
  }

  /** A value that was made: refuses those that are too large or too deep for what walks through them. */
  bounded<V extends Value>(value: V): V {
    if (typeof value !== 'object' || value instanceof Decimal) return value
    const { weight, depth } = sizeOf(value)
    if (weight > LIMIT.weight) throw evalError('Value too large')
    if (depth > LIMIT.depth) throw evalError('Value nested too deeply')
    return value
  }

  /** The size of a value, by which work on it is paid. */
  weightOf(value: Value): number {
    return Math.min(sizeOf(value).weight, LIMIT.weight)
  }

  /** Evaluates all, and gives the value of the last one. */
  sequence(exprs: readonly Expr[], env: Env | null): Term {
    let term: Term = UNIT
    for (const expr of exprs) {
      if (term instanceof Partial) throw partlyApplied(term, expr.place)
      term = this.evaluate(expr, env)
    }
    return term
  }

  /** As `evaluate`, and demands a value: neither a function nor a table. */
  value(expr: Expr, env: Env | null): Value {
    return asValue(this.evaluate(expr, env))
  }

  /** Applies a function. With fewer arguments than it has parameters the result waits for the others. */
  apply(fn: Callable, args: readonly Term[], place: Place): Term {
    if (fn instanceof NativeFunction) return this.#applyNative(fn, args, place)
    if (fn instanceof Partial) return this.apply(fn.fn, [...fn.args, ...args], place)
    if (fn instanceof Lambda) {
      if (args.length < fn.params.length) return new Partial(fn, args)
      this.charge(CALL_COST + ARGUMENT_COST * args.length)
      return this.sequence(fn.body, this.#bind(fn.params, args, fn.env))
    }
    if (fn instanceof Fun) {
      if (args.length < fn.params.length) return new Partial(fn, args)
      return this.callFun(fn, args, place)
    }
    throw evalError('Cannot apply value to a non-closure.', place)
  }

  /** Calls a function of a module. A capability gives its token, a pact is begun. */
  callFun(fun: Fun, args: readonly Term[], place: Place): Term {
    if (args.length > fun.params.length) throw tooMany(place)
    this.charge(CALL_COST + ARGUMENT_COST * args.length)
    for (const arg of args) if (!(arg instanceof TableRef)) asValue(arg)
    if (fun.kind === 'defcap') return this.bounded(new CapabilityToken(fun.qualified, args.map(asValue)))
    if (fun.kind === 'defpact') return startPact(this, fun, args.map(asValue), place)
    return this.run(fun, args, place)
  }

  /** Runs the body of a function or capability. */
  run(fun: Fun, args: readonly Term[], place: Place): Term {
    const isReading = this.#enter(fun, place)
    const result = this.sequence(fun.body, this.#bind(fun.params, args, null))
    this.checkType(fun.result, result)
    this.#leave(isReading)
    return result
  }

  /** Throws EvalError for a term that is not of its declared type. */
  checkType(type: Type | null, term: Term): void {
    if (type !== null && this.environment.rules.areTypesChecked) checkType(type, term, this.#payParts)
  }

  readonly #payParts = (parts: number): void => this.charge(PART_COST * parts)

  /** Begins a call of a function: recursion is refused. Returns whether the call may only read. */
  #enter(fun: Fun, place: Place): boolean {
    const { frames } = this
    let isCalled = false
    for (const frame of frames) {
      const isSame = frame.module === fun.module
      if (!isSame && !frame.module.isSame(fun.module)) continue
      if (isSame ? frame === fun : frame.name === fun.name) {
        throw evalError(`Recursion detected by the runtime. Recursing in function: ${fun.qualified}`, place)
      }
      isCalled = true
    }
    // A module that others call back into, through a module reference, may only read meanwhile.
    const isReading = isCalled && !fun.module.isSame(this.module)
    if (++this.#depth > MAX_DEPTH) throw tooDeep(place)
    frames.push(fun)
    if (isReading) this.readOnly++
    return isReading
  }

  /** Not called after errors: whoever catches one puts back all that was, or is done with the machine. */
  #leave(isReading: boolean): void {
    this.frames.pop()
    this.#depth--
    if (isReading) this.readOnly--
  }

  /** Runs within a call of a function. */
  within<T>(fun: Fun, place: Place, run: () => T): T {
    const isReading = this.#enter(fun, place)
    const result = run()
    this.#leave(isReading)
    return result
  }

  /** Parameters as variables around `env`. */
  bindArgs(params: readonly Param[], args: readonly Term[]): Env | null {
    return this.#bind(params, args, null)
  }

  #bind(params: readonly Param[], args: readonly Term[], env: Env | null): Env | null {
    if (args.length > params.length) throw tooMany(null)
    let bound = env
    for (let i = 0; i < params.length; i++) {
      this.checkType(params[i].type, args[i])
      bound = { value: args[i], up: bound }
    }
    return bound
  }

  #applyNative(fn: NativeFunction, args: readonly Term[], place: Place): Term {
    const { native } = fn
    const [fewest, most] = native.arity
    if (args.length < fewest) return new Partial(fn, args)
    if (args.length > most) throw tooMany(place)
    this.charge(fn.price)
    const around = this.#nativePlace
    this.#nativePlace = place
    if (++this.#depth > MAX_DEPTH) throw tooDeep(place)
    const result = native.run(new Arguments(native.name, args, this, place))
    this.#depth--
    const isValue = !(result instanceof Callable || result instanceof TableRef)
    if (isValue) this.bounded(result)
    this.#nativePlace = around
    return result
  }

  /** An error that ends what this machine runs, told with the place and the function where it happened. */
  located(error: unknown): unknown {
    if (!(error instanceof ContractError)) return error
    error.place ??= this.#nativePlace
    const fun = this.frames.at(-1)
    if (fun !== undefined) error.within ??= `${fun.qualified}.{${fun.module.hash}}`
    return error
  }

  /** The module whose function runs, or that is being loaded; null: code of the top level runs. */
  get module(): Module | null {
    const { frames } = this
    return frames.length === 0 ? this.loading : frames[frames.length - 1].module
  }

  findModule(name: string): Module | undefined {
    return this.state.get<Module>('modules', name)
  }

  /** A module by a name that may lack the namespace: of the module that asks, or of the command. */
  lookUpModule(name: string, asker: Module | null = this.module): Module | undefined {
    if (asker !== null && (asker.name === name || asker.bareName === name)) return asker
    for (const namespace of [asker?.namespace ?? null, this.namespace]) {
      const found = namespace === null ? undefined : this.findModule(`${namespace}.${name}`)
      if (found !== undefined) return found
    }
    return this.findModule(name)
  }

  emit(fun: Fun, params: readonly Value[]): void {
    const { module, name } = fun
    const weight = this.weightOf(params)
    if (weight > FREE_EVENT_WEIGHT) this.charge(EVENT_COST * weight)
    this.events.push({ module: module.name, name, params, moduleHash: module.hash })
  }

  /** Evaluates what must not write. */
  readingOf(expr: Expr, env: Env | null): Term {
    this.readOnly++
    const term = this.evaluate(expr, env)
    this.readOnly--
    return term
  }

  /** Runs what must not write. */
  reading<T>(run: () => T): T {
    this.readOnly++
    const result = run()
    this.readOnly--
    return result
  }

  /** Runs what may fail. A failure of the code itself undoes all but the gas, and gives `caught`. */
  attempt<T>(run: () => T, caught: (error: ContractError) => T): T {
    this.charge(ATTEMPT_COST + this.frames.length + this.admin.size + this.capabilities.size)
    const before = this.snapshot()
    try {
      return run()
    } catch (error) {
      if (!(error instanceof ContractError) || error.kind !== 'TxFailure') throw error
      this.restore(before)
      this.charge(FAILURE_COST)
      return caught(error)
    }
  }

  /** All that a failure takes back but the state: what may fail cannot write. */
  snapshot() {
    const { capabilities, frames, events, admin, readOnly } = this
    return {
      capabilities: capabilities.snapshot(),
      frames: frames.length,
      events: events.length,
      admin: new Set(admin),
      readOnly,
      depth: this.#depth,
      nativePlace: this.#nativePlace,
    }
  }

  /** Calls that were under way are still: what failed has begun others only. */
  restore(before: ReturnType<Evaluator['snapshot']>): void {
    this.capabilities.restore(before.capabilities)
    this.frames.length = before.frames
    this.events.length = before.events
    this.admin = before.admin
    this.readOnly = before.readOnly
    this.#depth = before.depth
    this.#nativePlace = before.nativePlace
  }

  /** Field of the message's data; undefined: there is none. */
  dataField(name: string): Value | undefined {
    const { data } = this.environment
    return data instanceof Map ? (data as ObjectValue).get(name) : undefined
  }
}

function outOfGas({ used, limit }: GasMeter): ContractError {
  return evalError(`Gas limit "${Math.floor(limit / 1000)}" exceeded: ${Math.ceil(used / 1000)}`)
}

function tooDeep(place: Place): ContractError {
  return evalError(`the code is nested too deeply: at most ${MAX_DEPTH} steps within each other`, place)
}

/** The error for a function that still waits for arguments where it has to run. */
export function partlyApplied({ fn, args }: Partial, place: Place): ContractError {
  const [name, count] = describe(fn)
  return evalError(`Incorrect number of arguments (${args.length}) for ${name} supplied; expected (${count})`, place)
}

function describe(fn: Callable): [name: string, params: number] {
  if (fn instanceof NativeFunction) return [`native function ${fn.name}`, fn.native.arity[0]]
  if (fn instanceof Fun) return [`function ${fn.qualified}.{${fn.module.hash}}`, fn.params.length]
  return ['lambda', fn instanceof Lambda ? fn.params.length : 0]
}

function tooMany(place: Place | null): ContractError {
  return evalError('Failed to apply a function or closure because there were too many arguments.', place)
}
