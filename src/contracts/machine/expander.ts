/**
 * Turns forms into expressions: finds what names mean (local variable, member of the module, import, native, module),
 * and special forms. A name that means nothing is an error here, before anything runs.
 */
import { ContractError, evalError, type Place } from '../errors.ts'
import { COST } from '../natives/costs.ts'
import type { Atom, BindingForm, CallForm, Form, TypeForm } from '../syntax/form.ts'
import { ModuleRef, UNIT } from '../values/value.ts'
import { Partial } from './callables.ts'
import {
  Const,
  type Definition,
  Fun,
  type Module,
  ownerOf,
  type Param,
  Schema,
  splitName,
  Table,
} from './definitions.ts'
import type { Env, Expr } from './expr.ts'
import { asValue, type Machine, partlyApplied } from './machine.ts'
import { Callable, type Term } from './term.ts'
import type { Type } from './types.ts'

/** Names of local variables, the innermost first, as Env has their values. */
export interface Scope {
  readonly name: string
  readonly up: Scope | null
}

export type SpecialForm = (call: CallForm, expander: Expander, scope: Scope | null) => Expr
export type SpecialForms = ReadonlyMap<string, SpecialForm>

/** An expression from a function. */
export function exprOf(place: Place, evaluate: (machine: Machine, env: Env | null) => Term): Expr {
  return { place, evaluate }
}

export class Expander {
  readonly machine: Machine
  readonly forms: SpecialForms
  /** The module whose code this is; null: code of the top level. */
  readonly module: Module | null
  /** Called with each member of the same module that is used. */
  readonly #onUse: (name: string) => void

  constructor(
    machine: Machine,
    forms: SpecialForms,
    module: Module | null,
    onUse: (name: string) => void = () => undefined,
  ) {
    this.machine = machine
    this.forms = forms
    this.module = module
    this.#onUse = onUse
  }

  expand(form: Form, scope: Scope | null): Expr {
    const { place } = form
    switch (form.form) {
      case 'string':
      case 'number':
        return exprOf(place, () => form.value)
      case 'list': {
        const items = form.items.map((item) => this.expand(item, scope))
        return exprOf(place, (machine, env) => {
          machine.charge(COST.listElement * items.length)
          return machine.bounded(items.map((item) => machine.value(item, env)))
        })
      }
      case 'object': {
        const fields = form.fields.map(([name, value]) => [name, this.expand(value, scope)] as const)
        return exprOf(place, (machine, env) => {
          machine.charge(COST.listElement * (fields.length + 1))
          return machine.bounded(new Map(fields.map(([name, value]) => [name, machine.value(value, env)])))
        })
      }
      case 'binding':
        throw syntaxError('a binding is not an expression', place)
      case 'atom':
        return this.#atom(form, scope)
      case 'call':
        return this.#call(form, scope)
    }
  }

  /** The forms of a body, at least one. */
  body(forms: readonly Form[], scope: Scope | null, place: Place): Expr[] {
    if (forms.length === 0) throw syntaxError('Expected: [expression]', place)
    return forms.map((form) => this.expand(form, scope))
  }

  /** `(a:string b)` as parameters. */
  params(form: Form | undefined, place: Place): Param[] {
    if (form?.form !== 'call') throw syntaxError("Expected: ['(']", form?.place ?? place)
    return form.items.map((item) => {
      if (item.form !== 'atom') throw syntaxError('a parameter is a name', item.place)
      return { name: item.name, type: this.type(item.type) }
    })
  }

  /** A type with its names looked up. Throws EvalError for schemas and interfaces that there are not. */
  type(form: TypeForm | null): Type | null {
    if (form === null) return null
    switch (form.type) {
      case 'list':
        return { type: 'list', item: this.type(form.item) }
      case 'object':
      case 'table':
        return { type: form.type, schema: form.schema === null ? null : this.#schema(form.schema) }
      case 'module':
        return { type: 'module', interfaces: form.interfaces.map((name) => this.moduleNamed(name).name) }
      default:
        return { type: form.type }
    }
  }

  /** As the machine finds it. The module that is being loaded remembers it. */
  lookUp(name: string): Module | undefined {
    const found = this.machine.lookUpModule(name, this.module)
    if (found !== undefined && found !== this.module) this.module?.dependencies.set(found.name, found)
    return found
  }

  moduleNamed(name: string, place: Place | null = null): Module {
    const module = this.lookUp(name)
    if (module === undefined) throw evalError(`Cannot find module: ${name}`, place)
    return module
  }

  #schema(name: string): Schema {
    const found = this.#definition(name)
    if (found instanceof Schema) return found
    throw evalError(`${name} is not a schema`)
  }

  #definition(name: string): Definition | undefined {
    const own = this.module?.get(name) ?? this.module?.imports.get(name)
    if (own !== undefined) return own
    const imported = this.machine.imports.get(name)
    if (imported !== undefined) {
      this.module?.outside.set(name, ownerOf(imported))
      return imported
    }
    const parts = splitName(name)
    return parts === null ? undefined : this.lookUp(parts.module)?.get(parts.member)
  }

  #atom(atom: Atom, scope: Scope | null): Expr {
    const { name, member, place } = atom
    if (member !== null) return this.#dynamic(atom, member, scope)
    if (name === 'true' || name === 'false') return exprOf(place, () => name === 'true')
    const distance = this.#distanceOf(name, scope)
    if (distance !== null) return local(distance, place)
    const definition = this.#definition(name)
    if (definition !== undefined) {
      if (this.module?.get(definition.name) === definition) this.#onUse(definition.name)
      return this.#reference(definition, place)
    }
    const native = this.machine.natives.get(name)
    if (native !== undefined) return exprOf(place, () => native)
    const module = this.lookUp(name)
    if (module !== undefined) return moduleRef(module, place)
    const parts = splitName(name)
    if (parts === null) throw evalError(`Unbound variable: ${name}`, place)
    const around = this.moduleNamed(parts.module, place)
    throw evalError(`Module ${around.name} has no such member: ${parts.member}`, place)
  }

  /** How many variables are nearer; null: it is not a local variable. */
  #distanceOf(name: string, scope: Scope | null): number | null {
    let distance = 0
    let found = false
    for (let each = scope; each !== null && !found; each = each.up) {
      if (each.name === name) found = true
      else distance++
    }
    if (distance > FREE_DISTANCE) this.machine.charge(distance)
    return found ? distance : null
  }

  #reference(definition: Definition, place: Place): Expr {
    if (definition instanceof Const) return exprOf(place, () => definition.value)
    if (definition instanceof Schema) throw evalError(`${definition.name} is a schema, not a value`, place)
    return exprOf(place, () => definition)
  }

  /** A special form that is used as a function: `(fold (and) true list)`. There is a native of its name. */
  partial(call: CallForm, scope: Scope | null): Expr {
    const [head, ...args] = call.items.map((item) => this.expand(item, scope))
    return exprOf(call.place, (machine, env) => {
      const fn = machine.evaluate(head, env)
      if (!(fn instanceof Callable)) throw evalError('Cannot apply value to a non-closure.', call.place)
      return machine.apply(
        fn,
        args.map((arg) => machine.evaluate(arg, env)),
        call.place,
      )
    })
  }

  /** `m::member`, where m is a module as a value. */
  #dynamic(atom: Atom, member: string, scope: Scope | null): Expr {
    const { place } = atom
    const target = this.#atom({ ...atom, member: null }, scope)
    return exprOf(place, (machine, env) => {
      const ref = machine.evaluate(target, env)
      if (!(ref instanceof ModuleRef)) throw evalError('what is left of :: is not a module', place)
      const { loading } = machine
      const module = loading?.name === ref.name ? loading : machine.findModule(ref.name)
      const definition = module?.get(member)
      if (definition === undefined) throw evalError(`Module ${ref.name} has no such member: ${member}`, place)
      if (definition instanceof Const) return definition.value
      if (definition instanceof Fun || definition instanceof Table) return definition
      throw evalError(`${ref.name}.${member} is a schema, not a value`, place)
    })
  }

  #call(call: CallForm, scope: Scope | null): Expr {
    const { place, items } = call
    const [head] = items
    if (head === undefined) return exprOf(place, () => UNIT)
    if (head.form === 'atom' && head.member === null && this.#distanceOf(head.name, scope) === null) {
      const special = this.forms.get(head.name)
      if (special !== undefined) return special(call, this, scope)
    }
    const fn = this.expand(head, scope)
    const args = items.slice(1).map((item) => this.expand(item, scope))
    return exprOf(place, (machine, env) => {
      const callable = machine.evaluate(fn, env)
      if (!(callable instanceof Callable)) throw evalError('Cannot apply value to a non-closure.', place)
      const terms = args.map((arg) => machine.evaluate(arg, env))
      const result = machine.apply(callable, terms, place)
      if (result instanceof Partial && callable instanceof Fun) {
        throw partlyApplied(result, place)
      }
      return result
    })
  }

  /**
   * What is done with an object: a binding with a body, or a function of one argument. `forms` are those behind it.
   */
  consumer(
    forms: readonly Form[],
    scope: Scope | null,
    place: Place,
  ): (machine: Machine, env: Env | null, object: ReadonlyMap<string, Term>) => Term {
    const [first, ...rest] = forms
    if (first === undefined) throw syntaxError('Expected: [binding]', place)
    if (first.form === 'binding') return this.#binding(first, rest, scope)
    if (first.form === 'object' && first.fields.length === 0) {
      const body = this.body(rest, scope, place)
      return (machine, env) => machine.sequence(body, env)
    }
    if (rest.length > 0) throw syntaxError('a binding is expected before a body', first.place)
    const fn = this.expand(first, scope)
    return (machine, env, object) => {
      const callable = machine.evaluate(fn, env)
      if (!(callable instanceof Callable)) throw evalError('Cannot apply value to a non-closure.', place)
      return machine.apply(callable, [asValue(object as Term)], place)
    }
  }

  #binding(binding: BindingForm, rest: readonly Form[], scope: Scope | null) {
    const fields = binding.fields.map(([name, variable]) => ({ name, type: this.type(variable.type) }))
    let inner = scope
    for (const [, variable] of binding.fields) inner = { name: variable.name, up: inner }
    const body = this.body(rest, inner, binding.place)
    return (machine: Machine, env: Env | null, object: ReadonlyMap<string, Term>): Term => {
      let bound = env
      for (const { name, type } of fields) {
        const value = object.get(name)
        if (value === undefined) throw evalError(`Key ${name} not found in object.`, binding.place)
        machine.checkType(type, value)
        bound = { value, up: bound }
      }
      return machine.sequence(body, bound)
    }
  }
}

/** Variables further away cost by their distance. */
const FREE_DISTANCE = 20

function local(distance: number, place: Place): Expr {
  return exprOf(place, (machine, env) => {
    if (distance > FREE_DISTANCE) machine.charge(2 * distance)
    let variable = env
    for (let i = 0; i < distance; i++) variable = variable?.up ?? null
    if (variable === null) throw evalError('a variable has no value', place)
    return variable.value
  })
}

function moduleRef(module: Module, place: Place): Expr {
  if (module.isInterface) {
    throw evalError(`Attempt to use an interface as a module reference failed: ${module.name}`, place)
  }
  return exprOf(place, () => new ModuleRef(module.name, module.interfaces))
}

export function syntaxError(message: string, place: Place): ContractError {
  return new ContractError('SyntaxError', message, place)
}
