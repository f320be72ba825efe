/**
 * Coverage of modules that test files load: counts each expression, function and outcome of a branch. Code outside of
 * modules does not count.
 */
import type { Expr, Module } from '../machine/ast.ts'
import type { ExpansionProbe, FormSite } from '../machine/expand/probe.ts'
import type { Term } from '../machine/term.ts'
import type { Tracer, TraceStep } from '../machine/tracer.ts'
import { annotationsOf } from '../syntax/annotations.ts'
import type { CallForm, Form } from '../syntax/form.ts'
import { CapabilityToken } from '../values/value.ts'
import { type BranchCount, CoverageCounter, type FileCounts, type PointCount } from './counts.ts'

/** Counters of a form: one runs when it is evaluated, one gets its value. */
interface FormListener {
  readonly onEnter?: () => void
  readonly onValue?: (value: Term) => void
}

/** Indexes of the outcomes of a capability. */
const [GRANTED, REFUSED] = [0, 1]

export class Coverage implements ExpansionProbe, Tracer {
  readonly #files = new Map<string, CoverageCounter>()
  readonly #fileOf: () => string
  readonly #includes: (file: string) => boolean
  readonly #listeners = new WeakMap<Form, FormListener[]>()
  /** Names of functions in calls, which are not expressions of their own. */
  readonly #heads = new WeakSet<Form>()
  /** Qualified name of a capability -> its branch. */
  readonly #capabilities = new Map<string, BranchCount>()
  /** Qualified name of a capability with `@event` -> what its event stands for: `emit-event` does not run the body. */
  readonly #events = new Map<string, readonly PointCount[]>()
  /** Names of the capabilities of the open steps; null for other steps. */
  readonly #open: (string | null)[] = []

  /**
   * @param fileOf the file whose code is expanded
   * @param includes whether the modules of a file count
   */
  constructor(fileOf: () => string, includes: (file: string) => boolean) {
    this.#fileOf = fileOf
    this.#includes = includes
  }

  get counts(): FileCounts[] {
    return [...this.#files.values()].map(({ counts }) => counts)
  }

  beginModule(form: CallForm, module: Module): void {
    const file = this.#coverageOf(module)
    if (file === null) return
    for (const member of form.items) if (member.form === 'call') this.#listenToMember(file, module, member)
  }

  instrument(form: Form, { module }: FormSite, expand: () => Expr): Expr {
    const file = module === null ? null : this.#coverageOf(module)
    // Forms without text are made by the expander.
    if (file === null || form.from === form.to || this.#heads.has(form)) return expand()
    if (form.form === 'call') this.#listenToParts(file, form)
    const expr = expand()
    const point = file.pointAt(form.place)
    const roles = this.#listeners.get(form) ?? []
    return {
      place: expr.place,
      evaluate: (run, env) => {
        point.hits++
        for (const { onEnter } of roles) onEnter?.()
        const value = expr.evaluate(run, env)
        for (const { onValue } of roles) onValue?.(value)
        return value
      },
    }
  }

  begin({ kind, name, args }: TraceStep): void {
    const [token] = args
    // The event of a capability that is acquired comes within its step, and its body has run.
    if (kind === 'event' && this.#open.at(-1) !== name) for (const each of this.#events.get(name) ?? []) each.hits++
    const isNeeded = kind === 'guard' && (name === 'require-capability' || name.startsWith(CAPABILITY_GUARD))
    if (kind === 'capability') this.#open.push(name)
    else if (!isNeeded) this.#open.push(null)
    else this.#open.push(`?${token instanceof CapabilityToken ? token.name : name.slice(CAPABILITY_GUARD.length)}`)
  }

  end(): void {
    const name = this.#open.pop() ?? null
    if (name !== null && !name.startsWith('?')) this.#count(name, GRANTED)
  }

  fail(): void {
    const name = this.#open.pop() ?? null
    if (name !== null) this.#count(name.replace('?', ''), REFUSED)
  }

  #count(capability: string, outcome: number): void {
    const branch = this.#capabilities.get(capability)
    if (branch !== undefined) branch.hits[outcome]++
  }

  #coverageOf({ name }: Module): CoverageCounter | null {
    const file = this.#fileOf()
    // Functions outside of modules belong to the tests.
    if (name === '#test' || !this.#includes(file)) return null
    const known = this.#files.get(file)
    if (known !== undefined) return known
    const made = new CoverageCounter(file)
    this.#files.set(file, made)
    return made
  }

  #listenToMember(file: CoverageCounter, module: Module, member: CallForm): void {
    const [head, name, , ...rest] = member.items
    if (head?.form !== 'atom' || name?.form !== 'atom' || module.isInterface) return
    if (head.name !== 'defun' && head.name !== 'defcap' && head.name !== 'defpact') return
    const qualified = `${module.name}.${name.name}`
    const { rest: body, isEvent } = annotationsOf(rest)
    const fun = file.functionAt(member.place, qualified)
    const [first] = body
    if (head.name === 'defpact') this.#listenToSteps(file, body)
    const entry = head.name === 'defpact' && first?.form === 'call' ? first.items[1] : first
    this.#listen(entry, {
      onEnter: () => {
        fun.hits++
      },
    })
    if (head.name !== 'defcap') return
    // A capability that only emits an event is never acquired.
    if (isEvent) this.#events.set(qualified, [fun, ...body.filter(isLiteral).map(({ place }) => file.pointAt(place))])
    else this.#capabilities.set(qualified, file.branchAt(member.place, 'defcap', ['granted', 'refused'], qualified))
  }

  #listenToSteps(file: CoverageCounter, steps: readonly Form[]): void {
    for (const step of steps) {
      const [head, forward, rollback] = step.form === 'call' ? step.items : []
      if (head?.form !== 'atom' || head.name !== 'step-with-rollback') continue
      const { hits } = file.branchAt(step.place, 'step-with-rollback', ['run', 'rolled back'])
      this.#listen(forward, { onEnter: () => void hits[0]++ })
      this.#listen(rollback, { onEnter: () => void hits[1]++ })
    }
  }

  /** Counts the outcomes of the parts of a call. */
  #listenToParts(file: CoverageCounter, call: CallForm): void {
    const { items, place } = call
    const [head, first, second, third] = items
    if (head === undefined) return
    this.#heads.add(head)
    if (head.form !== 'atom' || head.member !== null) return
    const countDecision = (outcomes: readonly string[], decisive = true) => {
      const { hits } = file.branchAt(place, head.name as BranchCount['kind'], outcomes)
      this.#listen(first, { onValue: (value) => void hits[value === decisive ? 0 : 1]++ })
    }
    switch (head.name) {
      case 'if':
        if (third !== undefined) countDecision(['then', 'else'])
        return
      case 'and':
      case 'or':
        if (items.length === 3) countDecision(['first decides', 'second decides'], head.name === 'or')
        return
      case 'enforce':
        if (items.length === 3) countDecision(['passed', 'failed'])
        return
      case 'cond':
        this.#listenToCond(file, call)
        return
      case 'enforce-one':
        if (second?.form === 'list') this.#listenToEnforceOne(file, call, second.items)
    }
  }

  #listenToCond(file: CoverageCounter, { items, place }: CallForm): void {
    const tests = items.slice(1, -1).map((pair) => (pair.form === 'call' ? pair.items[0] : undefined))
    if (tests.length === 0) return
    const outcomes = [...tests.map((_, i) => `case ${i + 1}`), 'default']
    const { hits } = file.branchAt(place, 'cond', outcomes)
    tests.forEach((test, i) => {
      const isLast = i === tests.length - 1
      this.#listen(test, {
        onValue: (value) => {
          if (value === true) hits[i]++
          else if (isLast) hits[tests.length]++
        },
      })
    })
  }

  #listenToEnforceOne(file: CoverageCounter, { items, place }: CallForm, tests: readonly Form[]): void {
    const { hits } = file.branchAt(place, 'enforce-one', [...tests.map((_, i) => `test ${i + 1}`), 'none'])
    tests.forEach((test, i) => {
      this.#listen(test, {
        onValue: (value) => {
          if (value === true) hits[i]++
        },
      })
    })
    // Its message is evaluated only if no test holds.
    this.#listen(items[1], { onEnter: () => void hits[tests.length]++ })
  }

  #listen(form: Form | undefined, role: FormListener): void {
    if (form === undefined) return
    this.#listeners.set(form, [...(this.#listeners.get(form) ?? []), role])
  }
}

/** Whether a form is a value such as `true`. */
function isLiteral(form: Form): boolean {
  return form.form === 'atom' || form.form === 'string' || form.form === 'number'
}

const CAPABILITY_GUARD = 'capability guard '
