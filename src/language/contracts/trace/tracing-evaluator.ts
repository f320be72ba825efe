/** An evaluator that reports each call to a tracer. Reads, guards and capabilities report themselves. */
import { NOWHERE, type TextPlace } from '../errors.ts'
import type { Expr, FunctionDefinition, TransactionScope } from '../machine/ast.ts'
import { Lambda, NativeFunction, PartialApplication } from '../machine/callables.ts'
import type { BlockScope } from '../machine/environment.ts'
import { Evaluator } from '../machine/evaluate/evaluator.ts'
import type { Language } from '../machine/expand/expander.ts'
import type { ExpansionProbe } from '../machine/expand/probe.ts'
import type { Callable, Term } from '../machine/term.ts'
import { runAsStep, type StepKind, type Tracer, type TraceStep } from '../machine/tracer.ts'
import { TableRef, type Value } from '../values/value.ts'

/** Natives that are steps of a kind of their own. All others are parts of the function around them. */
const KINDS: ReadonlyMap<string, StepKind> = new Map<string, StepKind>([
  ...['read', 'keys', 'select', 'fold-db'].map((name) => [name, 'read'] as const),
  ...['insert', 'update', 'write', 'create-table', 'define-keyset', 'define-namespace'].map(
    (name) => [name, 'write'] as const,
  ),
  ['yield', 'yield'],
  ['print', 'print'],
])

export interface Observers {
  readonly tracer: Tracer
  readonly probe: ExpansionProbe | null
}

export class TracingEvaluator extends Evaluator {
  override readonly tracer: Tracer
  override readonly probe: ExpansionProbe | null
  /** The function whose step has begun, until its body runs. */
  #begun: FunctionDefinition | null = null

  constructor(language: Language, block: BlockScope, transaction: TransactionScope, { tracer, probe }: Observers) {
    super(language, block, transaction)
    this.tracer = tracer
    this.probe = probe
  }

  override apply(fn: Callable, args: readonly Term[], place: TextPlace): Term {
    const [called, all] = fn instanceof PartialApplication ? [fn.fn, [...fn.args, ...args]] : [fn, args]
    const apply = () => super.apply(fn, args, place)
    if (called instanceof NativeFunction && all.length === called.arity) {
      return runAsStep(this.tracer, this.#nativeStep(called.name, all, place), apply)
    }
    if (called instanceof Lambda && all.length === called.params.length) {
      return runAsStep(this.tracer, this.#step('lambda', 'lambda', [], place), apply)
    }
    return apply()
  }

  override callFun(fun: FunctionDefinition, args: readonly Term[], place: TextPlace): Term {
    if (fun.kind === 'defcap' || args.length !== fun.params.length) return super.callFun(fun, args, place)
    return runAsStep(this.tracer, this.#step('call', fun.qualified, args, place), () => {
      this.#begun = fun.kind === 'defun' ? fun : null
      try {
        return super.callFun(fun, args, place)
      } finally {
        this.#begun = null
      }
    })
  }

  override runBody(fun: FunctionDefinition, args: readonly Term[], place: TextPlace): Term {
    const hasBegun = this.#begun === fun
    this.#begun = null
    if (hasBegun) return super.runBody(fun, args, place)
    return runAsStep(this.tracer, this.#step('call', fun.qualified, args, place), () => super.runBody(fun, args, place))
  }

  override runStep(fun: FunctionDefinition, step: Expr, args: readonly Value[], place: TextPlace): Term {
    const { step: scope } = this.call
    const name = `${fun.qualified} ${scope?.isRollback === true ? 'rollback of step' : 'step'} ${scope?.step ?? 0}`
    return runAsStep(this.tracer, this.#step('call', name, args, place), () => super.runStep(fun, step, args, place))
  }

  override emit(fun: FunctionDefinition, params: readonly Value[]): void {
    if (!this.block.rules.areEventsEmitted) return
    const place = this.call.nativePlace
    const step = { kind: 'event', name: fun.qualified, args: params, module: this.module, place } as const
    runAsStep(this.tracer, step, () => super.emit(fun, params))
  }

  #nativeStep(name: string, args: readonly Term[], place: TextPlace): TraceStep {
    const kind = KINDS.get(name) ?? 'native'
    const [table, ...rest] = args
    const hasTable = table instanceof TableRef && (kind === 'read' || kind === 'write')
    if (!hasTable && typeof table === 'string' && (kind === 'read' || kind === 'write')) {
      return { ...this.#step(kind, table, rest, place), by: name }
    }
    if (!hasTable) return this.#step(kind, name, args, place)
    const shown = rest.filter((each) => typeof each === 'string' || each instanceof Map)
    return { ...this.#step(kind, `${table.module}.${table.name}`, shown, place), by: name }
  }

  #step(kind: StepKind, name: string, args: readonly Term[], place: TextPlace): TraceStep {
    return { kind, name, args, module: this.module, place: place === NOWHERE ? null : place }
  }
}
