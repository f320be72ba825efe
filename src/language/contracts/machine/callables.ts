/** Callable terms other than functions of modules. */
import { type ContractError, evalError, type TextPlace } from '../errors.ts'
import type { AccessMode } from './access-mode.ts'
import { type Env, type Expr, FunctionDefinition, type Param, type Run } from './ast.ts'
import { ofList } from './gas/cost-names.ts'
import { Arguments, type Native } from './native.ts'
import { asValue, Callable, type Term } from './term.ts'

/** Milligas for each element of the list that a native gathers; the same as for a list in the source. */
const LIST_COST = 100

export class NativeFunction extends Callable {
  readonly native: Native<Run>
  /** Price of a call in milligas, in addition to charges that depend on the arguments. */
  readonly price: number
  /** Number of arguments of a complete call. */
  readonly arity: number

  /** Units of work by the arguments, counted before a call; null if the native counts by itself or is free. */
  readonly work: ((args: readonly Term[]) => number) | null

  constructor(
    native: Native<Run>,
    price: number,
    work: NativeFunction['work'] = null,
    arity = native.arityAsValue ?? native.arity[0],
  ) {
    super()
    this.work = work
    this.native = native
    this.price = price
    this.arity = arity
  }

  get name(): string {
    return this.native.name
  }

  /** @returns the variant of an overloaded native that takes `count` arguments, or this one if there is none */
  overload(count: number): NativeFunction {
    if (this.native.gathersArguments) return this.#gatherArguments(count)
    const [fewest, most] = this.native.arity
    if (count === this.arity || count < fewest || count > most) return this
    return new NativeFunction(this.native, this.price, this.work, count)
  }

  /** The variant that takes `count` arguments and hands them to the native as one list. */
  #gatherArguments(count: number): NativeFunction {
    const { name, run } = this.native
    const gather = ({ all, run: host, place }: Arguments<Run>) => {
      host.charge(LIST_COST * count, ofList(count))
      return run(new Arguments(name, [all.map(asValue)], host, place))
    }
    return new NativeFunction({ name, arity: [count, count], run: gather }, this.price, this.work, count)
  }
}

/** A native or a function of a module as a value, with the mode of the place that named it. */
export class Closure extends Callable {
  readonly fn: NativeFunction | FunctionDefinition
  readonly mode: AccessMode

  constructor(fn: NativeFunction | FunctionDefinition, mode: AccessMode) {
    super()
    this.fn = fn
    this.mode = mode
  }

  get name(): string {
    return this.fn.name
  }
}

/** The function that a value stands for, without its mode. */
export function functionOf(term: Term): Term {
  return term instanceof Closure ? term.fn : term
}

/** A lambda with its captured variables and mode. */
export class Lambda extends Callable {
  readonly name = 'lambda'
  readonly params: readonly Param[]
  readonly body: readonly Expr[]
  readonly env: Env | null
  readonly mode: AccessMode

  constructor(params: readonly Param[], body: readonly Expr[], env: Env | null, mode: AccessMode) {
    super()
    this.params = params
    this.body = body
    this.env = env
    this.mode = mode
  }
}

/** A function that can wait for the rest of its arguments. */
type Applicable = NativeFunction | Lambda | FunctionDefinition

/** A partially applied function. The arguments so far are checked against the types of their parameters. */
export class PartialApplication extends Callable {
  readonly fn: Applicable
  readonly args: readonly Term[]
  readonly mode: AccessMode

  constructor(fn: Applicable, args: readonly Term[], mode: AccessMode) {
    super()
    this.fn = fn
    this.args = args
    this.mode = mode
  }

  get name(): string {
    return this.fn.name
  }
}

/** Error for a partially applied function in a place that needs a complete call. */
export function incompleteCallError({ fn, args }: PartialApplication, place: TextPlace): ContractError {
  const [name, count] = describe(fn)
  return evalError(`Incorrect number of arguments (${args.length}) for ${name} supplied; expected (${count})`, place)
}

function describe(fn: Applicable): [name: string, params: number] {
  if (fn instanceof NativeFunction) return [`native function ${fn.name}`, fn.arity]
  if (fn instanceof FunctionDefinition) return [`function ${fn.qualified}.{${fn.module.hash}}`, fn.params.length]
  return ['lambda', fn.params.length]
}
