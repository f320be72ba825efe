/** Loads modules and interfaces: `(module name governance members...)`, `(interface name members...)`. */
import { evalError, type Place } from '../errors.ts'
import type { Atom, CallForm, Form } from '../syntax/form.ts'
import { hashText } from '../values/hash.ts'
import type { Guard, Value } from '../values/value.ts'
import { requireAdmin } from './admin.ts'
import { Const, type Definition, Fun, Module, Schema, type Step, Table } from './definitions.ts'
import { Expander, type Scope, type SpecialForms, syntaxError } from './expander.ts'
import type { Expr } from './expr.ts'
import { enforceGuard, enforceKeysetNamed } from './guards.ts'
import { importsOf } from './imports.ts'
import { checkImplements } from './interfaces.ts'
import type { Machine } from './machine.ts'
import { asValue } from './machine.ts'
import { docAndMarks } from './marks.ts'
import type { Type } from './types.ts'

export interface Namespace {
  readonly user: Guard
  readonly admin: Guard
}

/** Thousandths of gas for each character of a module. */
const CHARACTER_COST = 300
/** Not kept in a module: what only tools read. */
const IGNORED = new Set(['defproperty', 'defconstraint', '@model', '@doc'])

/** Loads the module of a form, whose text is `code`. Returns it. */
export function loadModule(machine: Machine, forms: SpecialForms, form: CallForm, code: string): Module {
  const [head, name, ...rest] = form.items
  const isInterface = (head as Atom).name === 'interface'
  if (machine.loading !== null) throw syntaxError('a module cannot be within a module', form.place)
  if (name?.form !== 'atom') throw syntaxError('a module has a name', form.place)
  const { namespace } = machine
  const module = new Module({
    name: namespace === null ? name.name : `${namespace}.${name.name}`,
    namespace,
    isInterface,
    code,
    hash: hashText(`${namespace ?? ''}|${code}`),
    txHash: machine.environment.hash,
  })
  machine.charge(CHARACTER_COST * code.length)
  machine.loading = module
  try {
    const governance = isInterface ? undefined : rest.shift()
    const members = docAndMarks(rest).rest
    new ModuleLoader(machine, forms, module).load(members, governance, form.place)
  } finally {
    machine.loading = null
  }
  install(machine, module)
  return module
}

/** Adds a definition to a module that is no real one: tests may define functions at the top level. */
export function defineOutside(machine: Machine, forms: SpecialForms, module: Module, form: CallForm): void {
  module.definitions.delete(nameOf(form).name)
  for (const [name, definition] of machine.imports) module.imports.set(name, definition)
  new ModuleLoader(machine, forms, module).add([form])
  for (const [name, definition] of module.definitions) machine.imports.set(name, definition)
}

class ModuleLoader {
  readonly #machine: Machine
  readonly #module: Module
  readonly #expander: Expander
  /** Member -> members of the same module that it uses. */
  readonly #uses = new Map<string, Set<string>>()
  #member = ''

  constructor(machine: Machine, forms: SpecialForms, module: Module) {
    this.#machine = machine
    this.#module = module
    this.#expander = new Expander(machine, forms, module, (used) => this.#uses.get(this.#member)?.add(used))
  }

  load(members: readonly Form[], governance: Form | undefined, place: Place): void {
    const later = this.#declareAll(members)
    this.#inherit()
    if (!this.#module.isInterface) this.#govern(governance, place)
    for (const finish of later) finish()
    this.#refuseCycles()
    for (const definition of this.#module.definitions.values()) if (definition instanceof Const) definition.value()
    for (const name of this.#module.interfaces) {
      const face = this.#interfaceNamed(name, place)
      this.#machine.charge(CHARACTER_COST * face.definitions.size)
      checkImplements(this.#module, face)
    }
  }

  add(members: readonly Form[]): void {
    for (const finish of this.#declareAll(members)) finish()
  }

  /** Makes all members known; returns what is left to do once they are. */
  #declareAll(members: readonly Form[]): (() => void)[] {
    const calls = members.filter((member) => !(member.form === 'atom' && IGNORED.has(member.name))).map(asCall)
    const of = (...names: string[]) => calls.filter(({ kind }) => names.includes(kind))
    for (const { form } of of('use')) this.#use(form)
    for (const { form } of of('bless')) this.#module.blessed.add(textOf(form.items[1], form.place))
    for (const { form } of of('implements')) this.#implement(form)
    const later = [
      ...this.#declare(of('defschema'), (form) => this.#schema(form)),
      ...this.#declare(of('defconst'), (form) => this.#const(form)),
      ...this.#declare(of('deftable'), (form) => this.#table(form)),
      ...this.#declare(of('defun', 'defcap', 'defpact'), (form, kind) => this.#fun(form, kind)),
    ]
    const unknown = calls.find(({ kind }) => !KNOWN.has(kind))
    if (unknown !== undefined) throw syntaxError(`${unknown.kind} is not a member of a module`, unknown.form.place)
    return later
  }

  #use(form: CallForm): void {
    for (const [name, definition] of importsOf(this.#expander, form)) this.#module.imports.set(name, definition)
  }

  #implement(form: CallForm): void {
    const name = form.items[1]
    if (name?.form !== 'atom') throw syntaxError('implements takes the name of an interface', form.place)
    this.#module.interfaces.push(this.#interfaceNamed(name.name, form.place).name)
  }

  #interfaceNamed(name: string, place: Place): Module {
    const found = this.#machine.lookUpModule(name, this.#module)
    if (found === undefined) throw evalError(`Cannot find interface: ${name}`, place)
    if (!found.isInterface) throw evalError(`${name} is a module, not an interface`, place)
    return found
  }

  /** Adds definitions; returns what is left to do once all are known. */
  #declare(
    members: readonly Member[],
    define: (form: CallForm, kind: string) => { readonly definition: Definition; readonly finish: () => void },
  ): (() => void)[] {
    return members.map(({ form, kind }) => {
      const { definition, finish } = define(form, kind)
      const { name } = definition
      if (this.#machine.natives.has(name)) throw evalError(`Variable ${name} shadows native with same name`, form.place)
      if (this.#module.definitions.has(name))
        throw evalError(`Duplicate definition: ${this.#module.name}.${name}`, form.place)
      this.#module.definitions.set(name, definition)
      this.#uses.set(name, new Set())
      return () => {
        this.#member = name
        finish()
      }
    })
  }

  #schema(form: CallForm) {
    const { name } = nameOf(form)
    const fields = new Map<string, Type | null>()
    const definition = new Schema(this.#module.name, name, fields)
    const finish = () => undefined
    // Schemas may use each other: a schema is known by name before its fields are.
    this.#module.definitions.set(name, definition)
    for (const field of docAndMarks(form.items.slice(2)).rest) {
      if (field.form !== 'atom') throw syntaxError('a field of a schema is a name', field.place)
      fields.set(field.name, this.#expander.type(field.type))
    }
    this.#module.definitions.delete(name)
    return { definition, finish }
  }

  #const(form: CallForm) {
    const { name, type } = nameOf(form)
    const [valueForm] = form.items.slice(2)
    if (valueForm === undefined) throw syntaxError('defconst takes a value', form.place)
    let expr: Expr | null = null
    let value: Value | undefined
    let isBusy = false
    const definition = new Const(name, () => {
      if (value !== undefined) return value
      if (isBusy || expr === null) throw evalError(`Recursive cycle detected in constant ${name}`, form.place)
      isBusy = true
      const result = asValue(this.#machine.evaluate(expr, null))
      this.#machine.checkType(this.#expander.type(type), result)
      isBusy = false
      value = result
      return result
    })
    return {
      definition,
      finish: () => {
        expr = this.#expander.expand(valueForm, null)
      },
    }
  }

  #table(form: CallForm) {
    const { name, type } = nameOf(form)
    const shape = this.#expander.type(type)
    const schema = shape?.type === 'object' || shape?.type === 'table' ? shape.schema : null
    return { definition: new Table(this.#module, name, schema), finish: () => undefined }
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
    const fun = new Fun(this.#module, kind as Fun['kind'], name, params, this.#expander.type(type), marks)
    let scope: Scope | null = null
    for (const each of params) scope = { name: each.name, up: scope }
    const finish = () => {
      if (this.#module.isInterface) {
        // A text alone is the description.
        if (rest.some((each) => each.form !== 'string'))
          throw syntaxError('functions of interfaces have no body', form.place)
      } else if (kind === 'defpact') fun.steps = this.#steps(fun, rest, scope, form.place)
      else fun.body = this.#expander.body(rest, scope, form.place)
    }
    return { definition: fun, finish }
  }

  #steps(fun: Fun, forms: readonly Form[], scope: Scope | null, place: Place): Step[] {
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

  /** Constants and schemas of interfaces are members too. */
  #inherit(): void {
    for (const name of this.#module.interfaces) {
      for (const [member, definition] of this.#interfaceNamed(name, { line: 0, column: 0 }).definitions) {
        const isInherited = definition instanceof Const || definition instanceof Schema
        if (isInherited && !this.#module.definitions.has(member)) this.#module.definitions.set(member, definition)
      }
    }
  }

  #govern(form: Form | undefined, place: Place): void {
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

  /** Walks without recursion: a module may have thousands of functions, each of which calls the next one. */
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
    return evalError(`Recursive cycle detected in module ${this.#module.name} in the following functions: [${names}]`)
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

function nameOf(form: CallForm): Pick<Atom, 'name' | 'type'> {
  const name = form.items[1]
  if (name?.form !== 'atom') throw syntaxError('a definition has a name', form.place)
  return name
}

function textOf(form: Form | undefined, place: Place): string {
  if (form?.form !== 'string') throw syntaxError('a string is expected', form?.place ?? place)
  return form.value
}

/** Asks whoever has to agree, and puts the module into the state. */
function install(machine: Machine, module: Module): void {
  const before = machine.findModule(module.name)
  if (before === undefined) {
    if ('keyset' in module.governance && !module.isInterface) enforceKeysetNamed(machine, module.governance.keyset)
    enterNamespace(machine, module)
  } else if (before.isInterface) throw evalError(`Interface cannot be upgraded: ${module.name}`)
  else if (module.isInterface) throw evalError(`${module.name} is a module, and an interface cannot take its place`)
  else requireAdmin(machine, before)
  machine.state.put('modules', module.name, module)
  if (!module.isInterface) machine.admin.add(module.name)
  for (const [name, definition] of module.definitions) {
    const isVisible = !module.isInterface || definition instanceof Const || definition instanceof Schema
    if (isVisible) machine.imports.set(name, definition)
  }
}

function enterNamespace(machine: Machine, module: Module): void {
  if (module.namespace === null) {
    if (machine.environment.rules.isRootOpen) return
    throw evalError('Namespace installation failed. Cannot install modules in the root namespace.')
  }
  const namespace = machine.state.get<Namespace>('namespaces', module.namespace)
  if (namespace === undefined) throw evalError(`Namespace not found: ${module.namespace}`)
  enforceGuard(machine, namespace.user)
}
