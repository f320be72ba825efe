/** Callable terms other than functions of modules. */
import { type ContractError, evalError, type TextPlace } from '../errors.ts'
import { type Env, type Expr, Fun, type Param, type Run } from './ast.ts'
import type { Native } from './native.ts'
import { Callable, type Term } from './term.ts'

export class NativeFunction extends Callable {
  readonly native: Native<Run>
  /** Price of a call in milligas, in addition to charges that depend on the arguments. */
  readonly price: number
  /** Number of arguments of a complete call. */
  readonly arity: number

  constructor(native: Native<Run>, price: number, arity = native.arityAsValue ?? native.arity[0]) {
    super()
    this.native = native
    this.price = price
    this.arity = arity
  }

  get name(): string {
    return this.native.name
  }

  /** @returns the variant of an overloaded native that takes `count` arguments, or this one if there is none */
  overload(count: number): NativeFunction {
    const [fewest, most] = this.native.arity
    if (count === this.arity || count < fewest || count > most) return this
    return new NativeFunction(this.native, this.price, count)
  }
}

/** A lambda with its captured variables. */
export class Lambda extends Callable {
  readonly name = 'lambda'
  readonly params: readonly Param[]
  readonly body: readonly Expr[]
  readonly env: Env | null

  constructor(params: readonly Param[], body: readonly Expr[], env: Env | null) {
    super()
    this.params = params
    this.body = body
    this.env = env
  }
}

/** A function that can wait for the rest of its arguments. */
type Applicable = NativeFunction | Lambda | Fun

/** A partially applied function. The arguments so far are checked against the types of their parameters. */
export class Partial extends Callable {
  readonly fn: Applicable
  readonly args: readonly Term[]

  constructor(fn: Applicable, args: readonly Term[]) {
    super()
    this.fn = fn
    this.args = args
  }

  get name(): string {
    return this.fn.name
  }
}

/** Error for a partially applied function in a place that needs a complete call. */
export function partlyApplied({ fn, args }: Partial, place: TextPlace): ContractError {
  const [name, count] = describe(fn)
  return evalError(`Incorrect number of arguments (${args.length}) for ${name} supplied; expected (${count})`, place)
}

function describe(fn: Applicable): [name: string, params: number] {
  if (fn instanceof NativeFunction) return [`native function ${fn.name}`, fn.arity]
  if (fn instanceof Fun) return [`function ${fn.qualified}.{${fn.module.hash}}`, fn.params.length]
  return ['lambda', fn.params.length]
}
