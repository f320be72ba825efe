/**
 * Expands forms into expressions: resolves names (local variable, member, import, native, module) and special forms. An
 * unknown name is an error at this stage, before any code runs.
 */
import { ContractError, evalError, type TextPlace } from '../errors.ts'
import type { Atom, BindingForm, CallForm, Form, TypeForm } from '../syntax/form.ts'
import { UNIT } from '../values/value.ts'
import {
  Const,
  type Definition,
  type Expr,
  type Module,
  ownerOf,
  type Param,
  type Run,
  Schema,
  type Type,
} from './ast.ts'
import * as exprs from './expressions.ts'
import { splitName } from './names.ts'
import type { Term } from './term.ts'

/** Names of local variables, innermost first, parallel to `Env`. */
export interface Scope {
  readonly name: string
  readonly up: Scope | null
}

export type SpecialForm = (call: CallForm, expander: Expander, scope: Scope | null) => Expr
export type SpecialForms = ReadonlyMap<string, SpecialForm>

/** Natives and special forms. They are defined above the evaluator and passed to it. */
export interface Language {
  /** Functions and constants by name. */
  readonly natives: ReadonlyMap<string, Term>
  readonly forms: SpecialForms
}

/** A run that can expand forms. Expanded expressions need only `Run`. */
export interface ExpandingRun extends Run {
  readonly forms: SpecialForms
}

export class Expander {
  readonly run: ExpandingRun
  /** The module that contains the code, or null at the top level. */
  readonly module: Module | null
  /** Called with the name of each used member of the same module. */
  readonly #onUse: (name: string) => void

  constructor(run: ExpandingRun, module: Module | null, onUse: (name: string) => void = () => undefined) {
    this.run = run
    this.module = module
    this.#onUse = onUse
  }

  expand(form: Form, scope: Scope | null): Expr {
    const { place } = form
    switch (form.form) {
      case 'string':
      case 'number':
        return exprs.constant(form.value, place)
      case 'list': {
        return exprs.list(this.expandAll(form.items, scope), place)
      }
      case 'object': {
        const fields = form.fields.map(([name, value]) => [name, this.expand(value, scope)] as const)
        return exprs.object(fields, place)
      }
      case 'binding':
        throw syntaxError('a binding is not an expression', place)
      case 'atom':
        return this.#atom(form, scope)
      case 'call':
        return this.#call(form, scope)
    }
  }

  expandAll(forms: readonly Form[], scope: Scope | null): Expr[] {
    return forms.map((form) => this.expand(form, scope))
  }

  /**
   * Expands the forms of a body.
   * @throws ContractError (SyntaxError) if there are none
   */
  body(forms: readonly Form[], scope: Scope | null, place: TextPlace): Expr[] {
    if (forms.length === 0) throw syntaxError('Expected: [expression]', place)
    return this.expandAll(forms, scope)
  }

  /** Parses `(a:string b)` as parameters. */
  params(form: Form | undefined, place: TextPlace): Param[] {
    if (form?.form !== 'call') throw syntaxError("Expected: ['(']", form?.place ?? place)
    return form.items.map((item) => {
      if (item.form !== 'atom') throw syntaxError('a parameter is a name', item.place)
      return { name: item.name, type: this.type(item.type, item.place) }
    })
  }

  /**
   * Resolves the names in a type.
   * @param place of the typed name, for errors
   * @throws EvalError for unknown schemas and interfaces
   */
  type(form: TypeForm | null, place: TextPlace): Type | null {
    if (form === null) return null
    switch (form.type) {
      case 'list':
        return { type: 'list', item: this.type(form.item, place) }
      case 'object':
      case 'table':
        return { type: form.type, schema: form.schema === null ? null : this.#schema(form.schema, place) }
      case 'module':
        return { type: 'module', interfaces: form.interfaces.map((name) => this.moduleNamed(name, place).name) }
      default:
        return { type: form.type }
    }
  }

  /**
   * Finds a module by a name with or without its namespace, and records it as a dependency of the module being loaded.
   */
  lookUp(name: string): Module | undefined {
    const found = this.#find(name)
    if (found !== undefined && found !== this.module) this.module?.dependencies.set(found.name, found)
    return found
  }

  /** Tries the module itself, its namespace and that of the program, then the root namespace. */
  #find(name: string): Module | undefined {
    const { run, module } = this
    if (module !== null && (module.name === name || module.bareName === name)) return module
    for (const namespace of [module?.namespace ?? null, run.program.namespace]) {
      const found = namespace === null ? undefined : run.findModule(`${namespace}.${name}`)
      if (found !== undefined) return found
    }
    return run.findModule(name)
  }

  moduleNamed(name: string, place: TextPlace | null = null): Module {
    const module = this.lookUp(name)
    if (module === undefined) throw evalError(`Cannot find module: ${name}`, place)
    return module
  }

  #schema(name: string, place: TextPlace): Schema {
    const found = this.#definition(name)
    if (found instanceof Schema) {
      this.#noteUse(found)
      return found
    }
    if (found !== undefined) {
      const is = `in defschema position: ${name} is not a valid schema`
      throw evalError(`Invalid def ${is}`, place, `definition ${is}.`)
    }
    const parts = splitName(name)
    if (parts !== null) throw evalError(`Module ${parts.module} has no such member: ${parts.member}`, place)
    throw evalError(`Unbound type variable ${name}: ${name} is not a schema`, place)
  }

  /** Records the use of a member of the module being loaded. */
  #noteUse(definition: Definition): void {
    if (this.module?.get(definition.name) === definition) this.#onUse(definition.name)
  }

  #definition(name: string): Definition | undefined {
    const own = this.module?.get(name) ?? this.module?.imports.get(name)
    if (own !== undefined) return own
    const imported = this.run.program.imports.get(name)
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
    if (name === 'true' || name === 'false') return exprs.constant(name === 'true', place)
    const distance = this.#distanceOf(name, scope)
    if (distance !== null) return exprs.local(distance, place)
    const definition = this.#definition(name)
    if (definition !== undefined) {
      this.#noteUse(definition)
      return this.#reference(definition, place)
    }
    const native = this.run.natives.get(name)
    if (native !== undefined) return exprs.named(native, place)
    const module = this.lookUp(name)
    if (module !== undefined) return moduleRef(module, place)
    const parts = splitName(name)
    if (parts === null) throw evalError(`Unbound variable: ${name}`, place)
    const around = this.moduleNamed(parts.module, place)
    throw evalError(`Module ${around.name} has no such member: ${parts.member}`, place)
  }

  /** @returns the number of variables between here and the variable, or null if it is not local */
  #distanceOf(name: string, scope: Scope | null): number | null {
    let distance = 0
    let found = false
    for (let each = scope; each !== null && !found; each = each.up) {
      if (each.name === name) found = true
      else distance++
    }
    if (distance > exprs.FREE_DISTANCE) this.run.charge(distance)
    return found ? distance : null
  }

  #reference(definition: Definition, place: TextPlace): Expr {
    if (definition instanceof Const) return exprs.constantOf(definition, place)
    if (definition instanceof Schema) throw evalError(`${definition.name} is a schema, not a value`, place)
    return exprs.named(definition, place)
  }

  /** `m::member`, where `m` evaluates to a module reference. */
  #dynamic(atom: Atom, member: string, scope: Scope | null): Expr {
    const { place } = atom
    const target = this.#atom({ ...atom, member: null }, scope)
    return exprs.member(target, member, place)
  }

  #call(call: CallForm, scope: Scope | null): Expr {
    const { place, items } = call
    const [head] = items
    if (head === undefined) return exprs.constant(UNIT, place)
    if (head.form === 'atom' && head.member === null && this.#distanceOf(head.name, scope) === null) {
      const special = this.run.forms.get(head.name)
      if (special !== undefined) return special(call, this, scope)
    }
    const fn = this.expand(head, scope)
    const args = this.expandAll(items.slice(1), scope)
    return exprs.call(fn, args, place)
  }

  /**
   * Expands the consumer of an object: a binding with a body, or a function of one argument.
   * @param forms the forms behind the object
   */
  consumer(forms: readonly Form[], scope: Scope | null, place: TextPlace): exprs.Consumer {
    const [first, ...rest] = forms
    if (first === undefined) throw syntaxError('Expected: [binding]', place)
    if (first.form === 'binding') return this.#binding(first, rest, scope)
    if (first.form === 'object' && first.fields.length === 0) return exprs.ignoring(this.body(rest, scope, place))
    if (rest.length > 0) throw syntaxError('a binding is expected before a body', first.place)
    return exprs.applying(this.expand(first, scope), place)
  }

  #binding(binding: BindingForm, rest: readonly Form[], scope: Scope | null): exprs.Consumer {
    const fields = binding.fields.map(([name, variable]) => ({ name, type: this.type(variable.type, variable.place) }))
    let inner = scope
    for (const [, variable] of binding.fields) inner = { name: variable.name, up: inner }
    return exprs.binding(fields, this.body(rest, inner, binding.place), binding.place)
  }
}

function moduleRef(module: Module, place: TextPlace): Expr {
  if (module.isInterface) {
    throw evalError(`Attempt to use an interface as a module reference failed: ${module.name}`, place)
  }
  return exprs.moduleRef(module.name, module.interfaces, place)
}

export function syntaxError(message: string, place: TextPlace): ContractError {
  return new ContractError('SyntaxError', message, place)
}
