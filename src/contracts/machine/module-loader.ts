/**
 * Builds the members of modules and interfaces: `(module name governance members...)`, `(interface name members...)`.
 */
import { evalError, NOWHERE, type TextPlace } from '../errors.ts'
import type { Atom, CallForm, Form } from '../syntax/form.ts'
import type { Value } from '../values/value.ts'
import {
  Const,
  type Definition,
  type Expr,
  Fun,
  type Module,
  type PactStep,
  Schema,
  TableDefinition,
  type Type,
} from './ast.ts'
import { Expander, type ExpandingRun, type Scope, syntaxError } from './expander.ts'
import { importInto } from './imports.ts'
import { checkImplements } from './interfaces.ts'
import { docAndMarks } from './marks.ts'
import { asValue, storable } from './term.ts'

/** Milligas for each character of a module. */
export const CHARACTER_COST = 300
/** Declarations for external tools only; skipped. */
const IGNORED = new Set(['defproperty', 'defconstraint', '@model', '@doc'])

/** Builds the members of a module from their forms. */
export class ModuleLoader {
  readonly #run: ExpandingRun
  readonly #module: Module
  readonly #expander: Expander
  /** Stored values of constants when a module is reloaded; null to evaluate them. */
  readonly #constants: ReadonlyMap<string, Value> | null
  /** Member -> members of the same module that it uses. */
  readonly #uses = new Map<string, Set<string>>()
  readonly #places = new Map<string, TextPlace>()
  #member = ''

  constructor(run: ExpandingRun, module: Module, constants: ReadonlyMap<string, Value> | null = null) {
    this.#run = run
    this.#constants = constants
    this.#module = module
    this.#expander = new Expander(run, module, (used) => this.#uses.get(this.#member)?.add(used))
  }

  /** Fills the module from its form. */
  load({ items, place }: CallForm): void {
    const rest = items.slice(2)
    const governance = this.#module.isInterface ? undefined : rest.shift()
    const members = docAndMarks(rest).rest
    const later = this.#declareAll(members)
    if (!this.#module.isInterface) this.#govern(governance, place)
    for (const finish of later) finish()
    this.#refuseCycles()
    for (const definition of this.#module.definitions.values()) if (definition instanceof Const) void definition.value
    for (const name of new Set(this.#module.interfaces)) {
      const face = this.#interfaceNamed(name, place)
      this.#run.charge(CHARACTER_COST * face.definitions.size)
      checkImplements(this.#module, face)
    }
  }

  add(members: readonly Form[]): void {
    for (const finish of this.#declareAll(members)) finish()
  }

  /**
   * Declares all members.
   * @returns functions that complete them once all are declared
   */
  #declareAll(members: readonly Form[]): (() => void)[] {
    const calls = members.filter((member) => !(member.form === 'atom' && IGNORED.has(member.name))).map(asCall)
    const of = (...names: string[]) => calls.filter(({ kind }) => names.includes(kind))
    for (const { form } of of('use')) this.#use(form)
    for (const { form } of of('bless')) this.#module.blessed.add(textOf(form.items[1], form.place))
    for (const { form } of of('implements')) this.#implement(form)
    const later = [
      ...this.#declare(of('defschema'), (form) => this.#schema(form)),
      ...this.#declare(of('defconst'), (form) => this.#const(form)),
    ]
    this.#inherit(new Set(calls.map(({ form }) => ownName(form))))
    later.push(
      ...this.#declare(of('deftable'), (form) => this.#table(form)),
      ...this.#declare(of('defun', 'defcap', 'defpact'), (form, kind) => this.#fun(form, kind)),
    )
    const unknown = calls.find(({ kind }) => !KNOWN.has(kind))
    if (unknown !== undefined) throw syntaxError(`${unknown.kind} is not a member of a module`, unknown.form.place)
    return later
  }

  #use(form: CallForm): void {
    importInto(this.#module.imports, this.#expander, form)
  }

  #implement(form: CallForm): void {
    const name = form.items[1]
    if (name?.form !== 'atom') throw syntaxError('implements takes the name of an interface', form.place)
    this.#module.interfaces.push(this.#interfaceNamed(name.name, form.place).name)
  }

  #interfaceNamed(name: string, place: TextPlace): Module {
    const found = this.#expander.lookUp(name)
    if (found === undefined) throw evalError(`Cannot find interface: ${name}`, place)
    if (!found.isInterface) throw evalError(`${name} is a module, not an interface`, place)
    return found
  }

  /**
   * Adds definitions.
   * @returns functions that complete them once all are declared
   */
  #declare(
    members: readonly Member[],
    define: (form: CallForm, kind: string) => { readonly definition: Definition; readonly finish: () => void },
  ): (() => void)[] {
    return members.map(({ form, kind }) => {
      const { definition, finish } = define(form, kind)
      const { name } = definition
      if (this.#run.natives.has(name)) throw evalError(`Variable ${name} shadows native with same name`, form.place)
      if (this.#module.definitions.has(name))
        throw evalError(`Duplicate definition: ${this.#module.name}.${name}`, form.place)
      this.#module.definitions.set(name, definition)
      this.#uses.set(name, new Set())
      this.#places.set(name, form.place)
      return () => {
        this.#member = name
        finish()
      }
    })
  }

  #schema(form: CallForm) {
    const { name } = nameOf(form)
    const fields = new Map<string, Type | null>()
    const definition = new Schema(this.#module, name, fields)
    // Types of fields may name later schemas.
    const finish = () => {
      for (const field of docAndMarks(form.items.slice(2)).rest) {
        if (field.form !== 'atom') throw syntaxError('a field of a schema is a name', field.place)
        fields.set(field.name, this.#expander.type(field.type, field.place))
      }
    }
    return { definition, finish }
  }

  #const(form: CallForm) {
    const { name, type } = nameOf(form)
    const [valueForm] = form.items.slice(2)
    if (valueForm === undefined) throw syntaxError('defconst takes a value', form.place)
    const kept = this.#constants?.get(name)
    if (kept !== undefined) return { definition: new Const(this.#module, name, () => kept), finish: () => undefined }
    if (this.#constants !== null) throw evalError(`the constant ${name} was not kept`, form.place)
    let expr: Expr | null = null
    let declared: Type | null = null
    let isBusy = false
    const definition = new Const(this.#module, name, () => {
      if (isBusy || expr === null) throw evalError(`Recursive cycle detected in constant ${name}`, form.place)
      isBusy = true
      const result = asValue(this.#run.evaluate(expr, null))
      this.#run.checkType(declared, result)
      return storable(result, `the constant ${name}`)
    })
    return {
      definition,
      finish: () => {
        declared = this.#expander.type(type, form.place)
        expr = this.#expander.expand(valueForm, null)
      },
    }
  }

  #table(form: CallForm) {
    const { name, type } = nameOf(form)
    const shape = this.#expander.type(type, form.place)
    const schema = shape?.type === 'object' || shape?.type === 'table' ? shape.schema : null
    return { definition: new TableDefinition(this.#module, name, schema), finish: () => undefined }
  }

  #fun(form: CallForm, kind: string) {
    const { name, type } = nameOf(form)
    const params = this.#expander.params(form.items[2], form.place)
    const { rest, managed, isEvent } = docAndMarks(form.items.slice(3))
    const param = managed?.param ?? null
    const index = param === null ? -1 : params.findIndex((each) => each.name === param)
    if (param !== null && index < 0)
      throw evalError(`Invalid managed argument. No argument with the name: ${param}`, form.place)
    const by = managed?.manager == null ? null : { param: index, manager: managed.manager }
    const marks = { managed: managed === null ? null : { by }, isEvent }
    const fun = new Fun(this.#module, kind as Fun['kind'], name, params, this.#expander.type(type, form.place), marks)
    let scope: Scope | null = null
    for (const each of params) scope = { name: each.name, up: scope }
    const finish = () => {
      if (this.#module.isInterface) {
        // A single string is the docstring.
        if (rest.some((each) => each.form !== 'string'))
          throw syntaxError('functions of interfaces have no body', form.place)
      } else if (kind === 'defpact') fun.steps = this.#steps(fun, rest, scope, form.place)
      else fun.body = this.#expander.body(rest, scope, form.place)
    }
    return { definition: fun, finish }
  }

  #steps(fun: Fun, forms: readonly Form[], scope: Scope | null, place: TextPlace): PactStep[] {
    if (forms.length === 0) throw syntaxError('a defpact has steps', place)
    return forms.map((form, index) => {
      if (form.form !== 'call') throw syntaxError('a defpact consists of steps', form.place)
      const { kind, form: call } = asCall(form)
      const [run, rollback] = call.items.slice(1)
      const hasRollback = kind === 'step-with-rollback'
      if ((kind !== 'step' && !hasRollback) || run === undefined || (hasRollback && rollback === undefined)) {
        throw syntaxError('a defpact consists of steps', form.place)
      }
      if (hasRollback && index === forms.length - 1) {
        throw evalError(`Rollbacks aren't allowed on the last step in: ${fun.qualified}`, form.place)
      }
      const expand = (each: Form) => this.#expander.expand(each, scope)
      return { run: expand(run), rollback: hasRollback ? expand(rollback) : null }
    })
  }

  /**
   * Adds the constants and schemas of interfaces as members.
   * @param own names that the module defines itself
   */
  #inherit(own: ReadonlySet<string | null>): void {
    for (const name of this.#module.interfaces) {
      for (const [member, definition] of this.#interfaceNamed(name, NOWHERE).definitions) {
        const isInherited = definition instanceof Const || definition instanceof Schema
        if (!isInherited || own.has(member) || this.#module.definitions.has(member)) continue
        this.#module.definitions.set(member, definition)
      }
    }
  }

  #govern(form: Form | undefined, place: TextPlace): void {
    if (form?.form === 'string') {
      this.#module.governance = { keyset: form.value }
      return
    }
    if (form?.form !== 'atom') throw syntaxError('a module names its keyset or capability of governance', place)
    const fun = this.#module.get(form.name)
    if (!(fun instanceof Fun) || fun.kind !== 'defcap' || fun.params.length > 0) {
      throw evalError(`Invalid governance. Must be a 0-argument defcap or a keyset. Found: ${form.name}`, form.place)
    }
    this.#module.governance = { capability: form.name }
  }

  /** Iterative depth-first search: a module may have thousands of functions, each calling the next. */
  #refuseCycles(): void {
    const done = new Set<string>()
    for (const start of this.#uses.keys()) {
      const path: (readonly [name: string, uses: Iterator<string>])[] = []
      const onPath = new Set<string>()
      const enter = (name: string) => {
        path.push([name, (this.#uses.get(name) ?? new Set<string>()).values()])
        onPath.add(name)
      }
      if (!done.has(start)) enter(start)
      for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
        const [name, uses] = last
        const next = uses.next()
        if (next.done) {
          path.pop()
          onPath.delete(name)
          done.add(name)
        } else if (onPath.has(next.value)) throw this.#cycle([...onPath], next.value)
        else if (!done.has(next.value)) enter(next.value)
      }
    }
  }

  #cycle(path: readonly string[], used: string): Error {
    const names = [...path.slice(path.indexOf(used)), used].join(', ')
    return evalError(
      `Recursive cycle detected in module ${this.#module.name} in the following functions: [${names}]`,
      this.#places.get(used),
    )
  }
}

interface Member {
  readonly kind: string
  readonly form: CallForm
}

const KNOWN = new Set([
  ...['use', 'bless', 'implements', 'defschema', 'defconst', 'deftable', 'defun', 'defcap', 'defpact'],
  ...['defproperty', 'defconstraint'],
])

function asCall(form: Form): Member {
  if (form.form !== 'call' || form.items[0]?.form !== 'atom') throw syntaxError('a definition is expected', form.place)
  return { kind: form.items[0].name, form }
}

export function nameOf(form: CallForm): Pick<Atom, 'name' | 'type'> {
  const name = form.items[1]
  if (name?.form !== 'atom') throw syntaxError('a definition has a name', form.place)
  return name
}

function ownName(form: CallForm): string | null {
  const name = form.items[1]
  return name?.form === 'atom' ? name.name : null
}

function textOf(form: Form | undefined, place: TextPlace): string {
  if (form?.form !== 'string') throw syntaxError('a string is expected', form?.place ?? place)
  return form.value
}
