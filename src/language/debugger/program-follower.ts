/** Follows a program expression by expression: its call stack, and the rows that it reads and writes. */
import { ContractError, type TextPlace } from '../contracts/errors.ts'
import type { Env, Expr, Module, Run } from '../contracts/machine/ast.ts'
import type { ExpansionProbe, FormSite } from '../contracts/machine/expand/probe.ts'
import type { Term } from '../contracts/machine/term.ts'
import type { Tracer, TraceStep } from '../contracts/machine/tracer.ts'
import type { CallForm, Form } from '../contracts/syntax/form.ts'
import type { FormStart, RunObserver } from '../contracts/trace/observer.ts'
import type { CodeStops } from './code-stops.ts'
import { type Catcher, Frame, type FrameKind, type Point } from './point.ts'
import { RowLog } from './row-log.ts'

/** Text that a program expands. */
export interface ProgramTexts {
  /** Name of the text that contains the code which is expanded now. @param module null for code at the top level */
  sourceOf(module: Module | null): string
  /** The position in a text of what stands there in the text of its command. */
  placeIn(source: string, place: TextPlace): TextPlace
  /** The stops of a text. */
  stopsIn(source: string): CodeStops
}

/** Decides where the program pauses. Each call may block, or throw DroppedRun. */
export interface PauseDecider {
  /** An expression begins. @param around the expression around it in its frame */
  enter(point: Point, around: Point | null): void
  /** An expression has a value. */
  leave(point: Point, value: Term): void
  /** The innermost expression fails. */
  fail(point: Point, error: ContractError): void
  /** A row was written. */
  noteWrite(table: string, key: string): void
}

/** Kinds of steps with frames of their own. */
const FRAMES: Readonly<Record<string, FrameKind>> = {
  call: 'call',
  capability: 'capability',
  lambda: 'lambda',
  deploy: 'deploy',
}

export class ProgramFollower implements RunObserver, Tracer, ExpansionProbe {
  readonly tracer: Tracer = this
  readonly probe: ExpansionProbe = this
  /** Call stack, outermost first. */
  readonly frames: Frame[] = []
  /** Who catches failures of the running code, innermost last. */
  readonly catchers: Catcher[] = []
  readonly rows = new RowLog()
  /** The evaluator of the running code. */
  run: Run | null = null
  /** Number of beginnings and ends of expressions so far. The same program has the same ones each time. */
  tick = 0
  /** Whether a frame has ended since the last beginning or end of an expression. */
  hasReturned = false
  /** Whether code runs that is not part of the program: an expression of the debugger. */
  isMuted = false
  readonly #texts: ProgramTexts
  readonly #decider: PauseDecider
  readonly #heads = new WeakSet<Form>()
  readonly #catcherOf = new WeakMap<Form, Catcher>()
  /** Whether each open step has a frame. */
  readonly #open: (TraceStep | null)[] = []
  #failure: unknown = null

  constructor(texts: ProgramTexts, decider: PauseDecider) {
    this.#texts = texts
    this.#decider = decider
  }

  /** The frame of the running code. */
  get frame(): Frame | null {
    return this.frames.at(-1) ?? null
  }

  beginModule(): void {
    // Each form of the module is expanded by itself.
  }

  instrument(form: Form, { module, scope }: FormSite, expand: () => Expr): Expr {
    // The language makes forms without text. Names of functions in calls are not expressions.
    if (form.from === form.to || this.#heads.has(form)) return expand()
    if (form.form === 'call') this.#noteParts(form)
    const expr = expand()
    const source = this.#texts.sourceOf(module)
    const place = this.#texts.placeIn(source, form.place)
    const stop = this.#texts.stopsIn(source).at(place)
    const point: Point = {
      source,
      ...place,
      isStop: stop !== null,
      isFirst: stop?.isFirst ?? false,
      module,
      scope,
      catcher: this.#catcherOf.get(form) ?? null,
    }
    return { place: expr.place, evaluate: (run, env) => this.#evaluate(expr, point, run, env) }
  }

  #noteParts({ items }: CallForm): void {
    const [head, ...parts] = items
    if (head === undefined) return
    this.#heads.add(head)
    if (head.form !== 'atom' || head.member !== null) return
    const note = (form: Form | undefined, catcher: Catcher) => {
      if (form !== undefined) this.#catcherOf.set(form, catcher)
    }
    const [, second, third] = parts
    if (head.name === 'try') note(second, 'attempt')
    else if (head.name === 'enforce-one' && second?.form === 'list')
      for (const each of second.items) note(each, 'attempt')
    else if (head.name === 'expect') note(third, 'expectation')
    else if (head.name === 'expect-failure' || head.name === 'for-all') note(parts.at(-1), 'expected')
    else if (head.name === 'for-any-order' && second?.form === 'list')
      for (const each of second.items) note(each, 'expected')
  }

  #evaluate(expr: Expr, point: Point, run: Run, env: Env | null): Term {
    if (this.isMuted) return expr.evaluate(run, env)
    const frame = this.frame ?? this.#pushTop('the code')
    const { point: around, env: envAround, tick: tickAround } = frame
    const restore = () => {
      Object.assign(frame, { point: around, env: envAround, tick: tickAround })
      this.catchers.length = caught
    }
    const caught = this.catchers.length
    frame.point = point
    frame.env = env
    frame.tick = ++this.tick
    this.hasReturned = false
    this.run = run
    if (point.catcher !== null) this.catchers.push(point.catcher)
    this.#decider.enter(point, around)
    frame.hasBegun = true
    let value: Term
    try {
      value = expr.evaluate(run, env)
    } catch (error) {
      this.#noteFailure(point, run, error)
      restore()
      throw error
    }
    this.run = run
    this.tick++
    this.#decider.leave(point, value)
    this.hasReturned = false
    restore()
    return value
  }

  /** Reports a failure of code once, at the innermost expression. */
  #noteFailure(point: Point, run: Run, error: unknown): void {
    if (!(error instanceof ContractError) || error === this.#failure) return
    this.#failure = error
    this.run = run
    this.tick++
    this.#decider.fail(point, error)
  }

  beginForm({ file, place, text }: FormStart): void {
    const frame = this.#pushTop(file)
    // No expression stands for these forms.
    if (!/^\((?:module|interface|use)\b/.test(text)) return
    const point: Point = {
      source: file,
      ...place,
      isStop: true,
      isFirst: this.#texts.stopsIn(file).at(place)?.isFirst ?? false,
      module: null,
      scope: null,
      catcher: null,
    }
    frame.point = point
    frame.tick = ++this.tick
    this.#decider.enter(point, null)
  }

  endForm(): void {
    this.frames.pop()
    this.hasReturned = true
  }

  /** Runs a part of a program as code at the top level. */
  runPart<T>(name: string, body: () => T): T {
    this.#pushTop(name)
    try {
      return body()
    } finally {
      this.frames.pop()
    }
  }

  #pushTop(name: string): Frame {
    const frame = new Frame('top', name, 0)
    this.frames.push(frame)
    return frame
  }

  begin(step: TraceStep): void {
    const kind = FRAMES[step.kind]
    this.#open.push(step)
    if (kind !== undefined) this.frames.push(new Frame(kind, step.name, step.args.length))
    else if (this.run !== null) this.rows.begin(step, this.run)
  }

  end(): void {
    const step = this.#endStep()
    if (step === null || this.run === null || FRAMES[step.kind] !== undefined) return
    const written = this.rows.end(step, this.run)
    if (written !== null) this.#decider.noteWrite(written.table, written.key)
  }

  fail(): void {
    const step = this.#endStep()
    if (step !== null && FRAMES[step.kind] === undefined) this.rows.fail(step)
  }

  #endStep(): TraceStep | null {
    const step = this.#open.pop() ?? null
    if (step !== null && FRAMES[step.kind] !== undefined) {
      this.frames.pop()
      this.hasReturned = true
    }
    return step
  }
}
