/** Points of a program, where it can be observed, and the frames of its call stack. */
import type { Env, Module } from '../contracts/machine/ast.ts'
import type { Scope } from '../contracts/machine/expand/probe.ts'
import type { Term } from '../contracts/machine/term.ts'

/** Who catches the failures of a form: `try` and `enforce-one`, an expectation of a value, or one of a failure. */
export type Catcher = 'attempt' | 'expectation' | 'expected'

/** An expression of the program. */
export interface Point {
  /** Name of its text. */
  readonly source: string
  /** Position in that text, from 0. */
  readonly line: number
  readonly column: number
  /** Whether stepping stops there. */
  readonly isStop: boolean
  /** Whether it is the first code of its line, where breakpoints are. */
  readonly isFirst: boolean
  readonly module: Module | null
  readonly scope: Scope | null
  readonly catcher: Catcher | null
}

export type FrameKind = 'top' | 'call' | 'capability' | 'lambda' | 'deploy'

/** An activation of a function, a capability or a form at the top level. */
export class Frame {
  readonly kind: FrameKind
  readonly name: string
  /** Number of its parameters, the outermost variables. */
  readonly params: number
  /** The innermost expression that runs, or null before the first one. */
  point: Point | null = null
  /** Its variables. */
  env: Env | null = null
  /** Number of the beginning of the expression. */
  tick = 0
  /** Whether an expression has begun before the current one. */
  hasBegun = false

  constructor(kind: FrameKind, name: string, params: number) {
    this.kind = kind
    this.name = name
    this.params = params
  }
}

/** A local variable. */
interface LocalVariable {
  readonly name: string
  readonly value: Term
}

/** Variables of a frame, innermost first, each name once. Variables of the language itself are left out. */
export function variablesOf({ kind, point, env, params }: Frame): {
  readonly locals: readonly LocalVariable[]
  readonly args: readonly LocalVariable[]
} {
  const all: LocalVariable[] = []
  let scope = point?.scope ?? null
  for (let each = env; each !== null && scope !== null; each = each.up, scope = scope.up) {
    all.push({ name: scope.name, value: each.value })
  }
  const count = kind === 'lambda' ? 0 : Math.min(params, all.length)
  const [locals, args] = [all.slice(0, all.length - count), all.slice(all.length - count).reverse()]
  const seen = new Set<string>()
  const visible = locals.filter(({ name }) => {
    const isVisible = !name.startsWith(':') && !seen.has(name)
    seen.add(name)
    return isVisible
  })
  return { locals: visible, args: args.filter(({ name }) => !seen.has(name)) }
}
