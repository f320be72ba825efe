/** What can be applied besides the functions of modules. */
import type { Param } from './ast.ts'
import type { Evaluator } from './evaluator.ts'
import type { Env, Expr } from './expr.ts'
import type { Native } from './native.ts'
import { Callable, type Term } from './term.ts'

export class NativeFunction extends Callable {
  readonly native: Native<Evaluator>
  /** Thousandths of gas of a call, beside what the native itself takes for what it is given. */
  readonly price: number

  constructor(native: Native<Evaluator>, price: number) {
    super()
    this.native = native
    this.price = price
  }

  get name(): string {
    return this.native.name
  }
}

/** A lambda with the variables around it. */
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

/** A function with its first arguments, waiting for the others. */
export class Partial extends Callable {
  readonly fn: Callable
  readonly args: readonly Term[]

  constructor(fn: Callable, args: readonly Term[]) {
    super()
    this.fn = fn
    this.args = args
  }

  get name(): string {
    return this.fn.name
  }
}
