/**
 * Builds the members of modules and interfaces: `(module name governance members...)`, `(interface name members...)`.
 */
import { evalError, type TextPlace } from '../../errors.ts'
import { type Annotations, annotationsOf } from '../../syntax/annotations.ts'
import type { Atom, CallForm, Form } from '../../syntax/form.ts'
import { syntaxError } from '../../syntax/lexer.ts'
import type { Type, Value } from '../../values/value.ts'
import {
  Const,
  type Definition,
  type Expr,
  FunctionDefinition,
  type ManagedParam,
  type Module,
  type PactStep,
  type Param,
  Schema,
  TableDefinition,
} from '../ast.ts'
import { Expander, type ExpandingRun, type Scope } from '../expand/expander.ts'
import * as refusals from '../expand/load-errors.ts'
import { asValue } from '../term.ts'
import { refuseCycles } from './cycles.ts'
import { checkHash, importsOf } from './imports.ts'
import { checkImplements } from './interfaces.ts'
import { ImageLoader } from './module-hash/image.ts'
import { DefinitionOrder } from './module-hash/order.ts'

/** Work for each member of an interface that a module implements. */
const MEMBER_WORK = 300
/** Declarations for external tools only; skipped. */
const IGNORED = new Set(['defproperty', 'defconstraint', '@model', '@doc'])

/** Builds the members of a module from their forms. */
export class ModuleLoader {
  readonly #run: ExpandingRun
  readonly #module: Module
  readonly #expander: Expander
  /** Stored values of constants when a module is reloaded; null to evaluate them. */
  readonly #constants: ReadonlyMap<string, Value> | null
  /** Names of all members that code can use. */
  readonly #names = new Set<string>()
  /** Interfaces that the module implements. */
  readonly #interfaces: Module[] = []

  constructor(run: ExpandingRun, module: Module, constants: ReadonlyMap<string, Value> | null = null) {
    this.#run = run
    this.#constants = constants
    this.#module = module
    this.#expander = new Expander(run, module, this.#names)
  }

  /**
   * Fills the module from its form, and evaluates its constants.
   * @returns its image, for its hash and its dependencies
   * @throws ContractError if a member does not load
   */
  load(form: CallForm): ImageLoader {
    const { items, place } = form
    this.#run.probe?.beginModule(form, this.#module)
    const rest = items.slice(2)
    const governance = this.#module.isInterface ? undefined : rest.shift()
    const members = annotationsOf(rest).rest
    const { forms, reserved } = this.#run
    const names = { module: this.#module.name, reserved, isForm: (name: string) => forms.has(name) }
    const uses = refuseCycles(names, definitionsOf(members))
    const order = this.#isRebuilt ? null : new DefinitionOrder(uses)
    this.#expander.names.order = order
    const later = this.#declareAll(members)
    if (!this.#module.isInterface) this.#govern(governance, place)
    for (const finish of later) finish()
    for (const declared of new Set(this.#interfaces)) {
      this.#run.work(MEMBER_WORK * declared.definitions.size)
      checkImplements(this.#module, declared, place)
    }
    const image = new ImageLoader(this.#run, this.#module, form, { members, order })
    image.chargeResolved()
    for (const definition of this.#module.definitions.values()) if (definition instanceof Const) void definition.value
    return image
  }

  /** Whether the module is rebuilt, and its data has no version before that its members could mean. */
  get #isRebuilt(): boolean {
    return this.#constants !== null && !this.#module.dependencies.has(this.#module.name)
  }

  /**
   * Adds members to a module that is loaded.
   * @throws ContractError if one does not load
   */
  add(members: readonly Form[]): void {
    for (const finish of this.#declareAll(members)) finish()
  }

  /**
   * Declares all members.
   * @returns functions that complete them once all are declared
   */
  #declareAll(members: readonly Form[]): (() => void)[] {
    const calls = members.filter((member) => !(member.form === 'atom' && IGNORED.has(member.name))).map(asCall)
    const callsOf = (...names: string[]) => calls.filter(({ kind }) => names.includes(kind))
    for (const { form } of callsOf('use')) this.#import(form)
    for (const { form } of callsOf('bless'))
      this.#module.blessed.add(checkHash(textOf(form.items[1], form.place), form))
    for (const { form } of callsOf('implements')) this.#implement(form)
    this.#nameAll(calls)
    const later = [
      ...this.#declare(callsOf('defschema'), (form) => this.#declareSchema(form)),
      ...this.#declare(callsOf('defconst'), (form) => this.#declareConst(form)),
    ]
    later.push(
      ...this.#declare(callsOf('deftable'), (form) => this.#declareTable(form)),
      ...this.#declare(callsOf('defun', 'defcap', 'defpact'), (form, kind) => this.#declareFun(form, kind)),
    )
    const unknown = calls.find(({ kind }) => !KNOWN.has(kind))
    if (unknown !== undefined) throw syntaxError(`${unknown.kind} is not a member of a module`, unknown.form.place)
    return later
  }

  /**
   * Collects the names of all members that code can use.
   * @throws EvalError for a second member of a name
   */
  #nameAll(calls: readonly MemberCall[]): void {
    const { name: around, isInterface } = this.#module
    const all = new Set<string>()
    for (const { kind, form } of calls) {
      const name = kind.startsWith('def') ? ownName(form) : null
      if (name === null) continue
      if (all.has(name)) throw refusals.duplicateDefinition(`${around}.${name}`, form.place)
      all.add(name)
      if (!isInterface || VISIBLE.has(kind)) this.#names.add(name)
    }
  }

  #import(form: CallForm): void {
    for (const [name, definition] of importsOf(this.#expander, form)) {
      this.#module.imports.set(name, definition)
      // As on the network, code after the module sees these imports too.
      this.#run.program.imports.set(name, definition)
    }
  }

  #implement(form: CallForm): void {
    const name = form.items[1]
    if (name?.form !== 'atom') throw syntaxError('implements takes the name of an interface', form.place)
    const face = this.#expander.names.requireInterface(name.name, form.place)
    this.#interfaces.push(face)
    this.#module.interfaces.push(face.name)
  }

  /**
   * Adds definitions.
   * @returns functions that complete them once all are declared
   */
  #declare(
    members: readonly MemberCall[],
    define: (form: CallForm, kind: string) => { readonly definition: Definition; readonly finish: () => void },
  ): (() => void)[] {
    const { names } = this.#expander
    return members.map(({ form, kind }) => {
      names.order?.begin(ownName(form), kind)
      const { definition, finish } = define(form, kind)
      const { name } = definition
      this.#module.definitions.set(name, definition)
      return () => {
        if (!(definition instanceof Schema || definition instanceof TableDefinition)) this.#expander.around = definition
        names.order?.begin(name, kind)
        finish()
        this.#expander.around = null
      }
    })
  }

  #declareSchema(form: CallForm) {
    const { name } = definitionName(form)
    const fields = new Map<string, Type | null>()
    const definition = new Schema(this.#module, name, fields)
    // Types of fields may name later schemas.
    const finish = () => {
      for (const field of annotationsOf(form.items.slice(2)).rest) {
        if (field.form !== 'atom') throw syntaxError('a field of a schema is a name', field.place)
        fields.set(field.name, this.#expander.type(field.type, field.place))
      }
    }
    return { definition, finish }
  }

  #declareConst(form: CallForm) {
    const { name, type } = definitionName(form)
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
      const result = evaluateConstant(this.#run, expr)
      this.#run.checkType(declared, result)
      return result
    })
    return {
      definition,
      finish: () => {
        declared = this.#expander.type(type, form.place)
        expr = this.#expander.expand(valueForm, null)
      },
    }
  }

  #declareTable(form: CallForm) {
    const { name, type } = definitionName(form)
    const shape = this.#expander.type(type, form.place)
    const schema = shape?.type === 'object' || shape?.type === 'table' ? shape.schema : null
    return { definition: new TableDefinition(this.#module, name, schema), finish: () => undefined }
  }

  #declareFun(form: CallForm, kind: string) {
    const { name, type } = definitionName(form)
    const params = this.#expander.params(form.items[2], form.place)
    const { rest, managed, isEvent } = annotationsOf(form.items.slice(3))
    const by = managedParam(managed, params, form.place)
    const marks = { managed: managed === null ? null : { by }, isEvent }
    const fun = new FunctionDefinition(
      this.#module,
      kind as FunctionDefinition['kind'],
      name,
      params,
      this.#expander.type(type, form.place),
      marks,
    )
    let scope: Scope | null = null
    for (const each of params) scope = { name: each.name, up: scope }
    const finish = () => {
      if (by !== null) this.#manage(by, form.place)
      // A string in an interface is the docstring.
      if (this.#module.isInterface) return
      if (kind === 'defpact') fun.steps = this.#expandSteps(fun, rest, scope, form.place)
      else fun.body = this.#expander.body(rest, scope, form.place)
    }
    return { definition: fun, finish }
  }

  /** Finds the manager of a capability. In an interface it is a function of the interface. */
  #manage(by: ManagedParam, place: TextPlace): void {
    const { isInterface, name } = this.#module
    if (!isInterface) by.manager = this.#expander.names.requireManager(by.name, place)
    else {
      const own = this.#module.get(by.name)
      if (!(own instanceof FunctionDefinition) || own.kind !== 'defun')
        throw refusals.noSuchMember(name, by.name, place)
    }
  }

  #expandSteps(fun: FunctionDefinition, forms: readonly Form[], scope: Scope | null, place: TextPlace): PactStep[] {
    if (forms.length === 0) throw syntaxError('a defpact has steps', place)
    return forms.map((form, index) => {
      if (form.form !== 'call') throw syntaxError('a defpact consists of steps', form.place)
      const { kind, form: call } = asCall(form)
      const parts = call.items.slice(1)
      const model = parts.findIndex((part) => part.form === 'atom' && part.name === '@model')
      const [run, rollback, ...more] = model < 0 ? parts : parts.slice(0, model)
      const hasRollback = kind === 'step-with-rollback'
      if ((kind !== 'step' && !hasRollback) || run === undefined || (hasRollback && rollback === undefined)) {
        throw syntaxError('a defpact consists of steps', form.place)
      }
      if (more.length > 0 || (rollback !== undefined && !hasRollback)) {
        throw refusals.entityInStep(fun.qualified, form.place)
      }
      if (hasRollback && index === forms.length - 1) throw refusals.lastRollback(fun.qualified, form.place)
      const expand = (each: Form) => this.#expander.expand(each, scope)
      return { run: expand(run), rollback: hasRollback ? expand(rollback) : null }
    })
  }

  #govern(form: Form | undefined, place: TextPlace): void {
    if (form?.form === 'string') {
      this.#module.governance = { keyset: form.value }
      return
    }
    if (form?.form !== 'atom') throw syntaxError('a module names its keyset or capability of governance', place)
    const fun = this.#module.get(form.name)
    if (!(fun instanceof FunctionDefinition) || fun.kind !== 'defcap' || fun.params.length > 0) {
      throw refusals.wrongGovernance(`${this.#module.name}.${form.name}`, form.place)
    }
    this.#module.governance = { capability: form.name }
  }
}

interface MemberCall {
  readonly kind: string
  readonly form: CallForm
}

const KNOWN = new Set([
  'use',
  'bless',
  'implements',
  'defschema',
  'defconst',
  'deftable',
  'defun',
  'defcap',
  'defpact',
  'defproperty',
  'defconstraint',
])

/** Kinds of members that an interface has for code to use. */
const VISIBLE: ReadonlySet<string> = new Set(['defconst', 'defschema'])

/** @returns null unless the capability has a managed parameter */
function managedParam(
  managed: Annotations['managed'],
  params: readonly Param[],
  place: TextPlace,
): ManagedParam | null {
  if (managed?.param == null || managed.manager === null) return null
  const param = params.findIndex((each) => each.name === managed.param)
  if (param < 0) throw refusals.noSuchArgument(managed.param, place)
  return { param, name: managed.manager, manager: null }
}

/** Members that define something, not imports and the like. */
function definitionsOf(members: readonly Form[]): CallForm[] {
  return members.filter((form): form is CallForm => {
    const head = form.form === 'call' ? form.items[0] : undefined
    return head?.form === 'atom' && head.name.startsWith('def')
  })
}

function asCall(form: Form): MemberCall {
  if (form.form !== 'call' || form.items[0]?.form !== 'atom') throw syntaxError('a definition is expected', form.place)
  return { kind: form.items[0].name, form }
}

/** @throws ContractError (SyntaxError) if the definition has no name */
export function definitionName(form: CallForm): Pick<Atom, 'name' | 'type'> {
  const name = form.items[1]
  if (name?.form !== 'atom') throw syntaxError('a definition has a name', form.place)
  return name
}

function ownName(form: CallForm): string | null {
  const name = form.items[1]
  return name?.form === 'atom' ? name.name : null
}

/** Constants may read keysets and the like, but no tables. */
function evaluateConstant(run: ExpandingRun, expr: Expr): Value {
  return run.inMode(run.call.mode.systemOnly, () => asValue(run.evaluate(expr, null)))
}

function textOf(form: Form | undefined, place: TextPlace): string {
  if (form?.form !== 'string') throw syntaxError('a string is expected', form?.place ?? place)
  return form.value
}
