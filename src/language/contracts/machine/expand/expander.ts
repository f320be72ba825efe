/**
 * Expands forms into expressions: resolves names and special forms. An unknown name is an error at this stage, before
 * any code runs. The name of a native always means the native. Any other name means, in this order, a variable, a
 * member, an import or a module.
 */
import type { TextPlace } from '../../errors.ts'
import type { Atom, BindingForm, CallForm, Form, TypeForm } from '../../syntax/form.ts'
import { syntaxError } from '../../syntax/lexer.ts'
import { type Type, UNIT } from '../../values/value.ts'
import {
  Const,
  type Definition,
  type Expr,
  type FunctionDefinition,
  type Module,
  type Param,
  type Run,
  Schema,
} from '../ast.ts'
import { PRINT } from '../environment.ts'
import type { Term } from '../term.ts'
import * as exprs from './expressions.ts'
import { checkForm } from './form-rules.ts'
import { emptyBinding, notDynamic, notInDefcap, noValue, unboundVariable } from './load-errors.ts'
import type { ExpansionProbe, Scope } from './probe.ts'
import { Resolver } from './resolver.ts'

export type { Scope } from './probe.ts'

export type SpecialForm = (call: CallForm, expander: Expander, scope: Scope | null) => Expr
export type SpecialForms = ReadonlyMap<string, SpecialForm>

/** Natives and special forms. They are defined above the evaluator and passed to it. */
export interface Language {
  /** Functions and constants by name. */
  readonly natives: ReadonlyMap<string, Term>
  readonly forms: SpecialForms
  /** Names of natives. No variable and no member can take their place. */
  readonly reserved: ReadonlySet<string>
}

/** A run that can expand forms. Expanded expressions need only `Run`. */
export interface ExpandingRun extends Run {
  readonly forms: SpecialForms
  readonly reserved: ReadonlySet<string>
  readonly probe: ExpansionProbe | null
}

/** The definition that contains the code. */
export interface EnclosingDefinition {
  readonly kind: FunctionDefinition['kind'] | 'defconst'
}

export class Expander {
  readonly run: ExpandingRun
  /** The module that contains the code, or null at the top level. */
  readonly module: Module | null
  readonly names: Resolver
  /** Definition that is being expanded, or null. */
  around: EnclosingDefinition | null = null

  /** @param later names of members, some of which are declared later */
  constructor(run: ExpandingRun, module: Module | null, later: ReadonlySet<string> = new Set()) {
    this.run = run
    this.module = module
    this.names = new Resolver(run, module, later)
  }

  expand(form: Form, scope: Scope | null): Expr {
    const { probe } = this.run
    return probe === null
      ? this.#expand(form, scope)
      : probe.instrument(form, { module: this.module, scope }, () => this.#expand(form, scope))
  }

  #expand(form: Form, scope: Scope | null): Expr {
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

  /** Parses `(a:string b)` as parameters. @throws ContractError (SyntaxError) if they are not names in parentheses */
  params(form: Form | undefined, place: TextPlace): Param[] {
    return this.typedParams(this.paramNames(form, place))
  }

  /** As `params`, without their types. @throws ContractError (SyntaxError) if they are not names in parentheses */
  paramNames(form: Form | undefined, place: TextPlace): readonly Atom[] {
    if (form?.form !== 'call') throw syntaxError("Expected: ['(']", form?.place ?? place)
    return form.items.map((item) => {
      if (item.form !== 'atom') throw syntaxError('a parameter is a name', item.place)
      return item
    })
  }

  /** Resolves the types of parameters. @throws EvalError for unknown schemas and interfaces */
  typedParams(names: readonly Atom[]): Param[] {
    return names.map(({ name, type, place }) => ({ name, type: this.type(type, place) }))
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
        return { type: form.type, schema: form.schema === null ? null : this.names.requireSchema(form.schema, place) }
      case 'module':
        return {
          type: 'module',
          interfaces: form.interfaces.map((name) => this.names.requireInterface(name, place).name),
        }
      default:
        return { type: form.type }
    }
  }

  #atom(atom: Atom, scope: Scope | null): Expr {
    const { name, member, place } = atom
    if (member !== null) return this.#dynamic(name, member, scope, place)
    if (name === 'true' || name === 'false') return exprs.constant(name === 'true', place)
    const native = this.run.natives.get(name)
    if (native !== undefined && this.run.reserved.has(name)) return exprs.reference(native, place)
    const distance = this.#distanceOf(name, scope)
    if (distance !== null) return exprs.local(distance, place)
    if (native !== undefined && this.names.findBare(name) === undefined && this.#isMeant(name)) {
      return exprs.reference(native, place)
    }
    const found = this.names.resolve(name, place, scope)
    return 'module' in found ? moduleRef(found.module, place) : this.#reference(found.definition, place)
  }

  /** Whether a name means its native. A module named `print` comes before the native, as on live networks. */
  #isMeant(name: string): boolean {
    if (name !== PRINT) return true
    if (this.names.isModule(name)) return false
    this.run.block.print?.noteUse(this.module?.name ?? null)
    return true
  }

  /** @returns the number of variables between here and the variable, or null if it is not local */
  #distanceOf(name: string, scope: Scope | null): number | null {
    let distance = 0
    let found = false
    for (let each = scope; each !== null && !found; each = each.up) {
      if (each.name === name) found = true
      else distance++
    }
    if (distance > exprs.FREE_DISTANCE) this.run.work(distance)
    return found ? distance : null
  }

  #reference(definition: Definition, place: TextPlace): Expr {
    if (definition instanceof Const) return exprs.constantOf(definition, place)
    if (definition instanceof Schema) throw noValue(definition.name, place)
    return exprs.reference(definition, place)
  }

  /** `m::member`, where `m` is a variable with a module reference, even if it has the name of a native. */
  #dynamic(name: string, member: string, scope: Scope | null, place: TextPlace): Expr {
    const distance = this.#distanceOf(name, scope)
    if (distance !== null) return exprs.member(exprs.local(distance, place), member, place)
    throw this.names.findBare(name) === undefined ? unboundVariable(name, place) : notDynamic(name, member, place)
  }

  #call(call: CallForm, scope: Scope | null): Expr {
    const { place, items } = call
    const [head] = items
    if (head === undefined) return exprs.constant(UNIT, place)
    if (head.form === 'atom' && head.member === null) {
      checkForm(head.name, call)
      if (head.name === 'with-capability' && this.around?.kind === 'defcap') throw notInDefcap(head.name, place)
      const special = this.run.forms.get(head.name)
      if (special !== undefined) return special(call, this, scope)
    }
    const fn = this.#expand(head, scope)
    const args = this.#arguments(items.slice(1), scope)
    return exprs.call(fn, args, place)
  }

  /** Expands arguments. A binding among them is a function of an object, and the rest is its body. */
  #arguments(forms: readonly Form[], scope: Scope | null): Expr[] {
    const at = forms.findIndex((form) => form.form === 'binding')
    const binding = forms[at]
    if (binding?.form !== 'binding') return this.expandAll(forms, scope)
    const consume = this.#binding(binding, forms.slice(at + 1), { name: OBJECT, up: scope })
    const body = exprs.consumerBody(consume, binding.place)
    return [
      ...this.expandAll(forms.slice(0, at), scope),
      exprs.lambda([{ name: OBJECT, type: null }], [body], binding.place),
    ]
  }

  /**
   * Expands the consumer of an object: a binding with a body, or a function of one argument.
   * @param forms the forms after the object
   * @throws ContractError (SyntaxError) if there are none
   */
  consumer(forms: readonly Form[], scope: Scope | null, place: TextPlace): exprs.TokenConsumer {
    const [first, ...rest] = forms
    if (first === undefined) throw syntaxError('Expected: [binding]', place)
    if (first.form === 'binding') return exprs.chargedConsumer(this.#binding(first, rest, scope))
    const fn = this.expand(first, scope)
    return exprs.functionConsumer(fn, this.#arguments(rest, scope), place)
  }

  #binding(binding: BindingForm, rest: readonly Form[], scope: Scope | null): exprs.TokenConsumer {
    if (rest.length === 0) throw emptyBinding(binding.place)
    // As on the network, names in the type of a later field are found first.
    const fields = binding.fields.toReversed().map(([name, variable]) => {
      return { name, type: this.type(variable.type, variable.place), place: variable.place }
    })
    fields.reverse()
    let inner = scope
    for (const [, variable] of binding.fields) inner = { name: variable.name, up: inner }
    return exprs.bindingConsumer(fields, this.body(rest, inner, binding.place), binding.place)
  }
}

/** Variable for an object. Code cannot name it. */
const OBJECT = ':object'

function moduleRef(module: Module, place: TextPlace): Expr {
  return exprs.moduleRef(module.name, module.interfaces, place)
}
