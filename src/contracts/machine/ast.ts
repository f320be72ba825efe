/**
 * Code once it is read, and what it may ask of the evaluator: expressions, the definitions of modules, pacts, the scopes
 * of a run. They stand in one file because each names the others.
 */
import type { ContractError, TextPlace } from '../errors.ts'
import type { CapabilityToken, ObjectValue, Value } from '../values/value.ts'
import type { BlockScope, EmittedEvent, GasMeter, Message } from './environment.ts'
import type { Host } from './native.ts'
import type { Domain, Layer } from './state.ts'
import { Callable, TableRef, type Term } from './term.ts'

/** Values of local variables, the innermost first. */
export interface Env {
  readonly value: Term
  readonly up: Env | null
}

/** Code whose names are known. Variables are found by their distance, not by name. */
export interface Expr {
  readonly place: TextPlace
  evaluate(run: Run, env: Env | null): Term
}

/** A declared type: as TypeForm, with names looked up. */
export type Type =
  | { readonly type: 'string' | 'integer' | 'decimal' | 'bool' | 'time' | 'guard' | 'keyset' | 'unit' | 'any' }
  | { readonly type: 'list'; readonly item: Type | null }
  | { readonly type: 'object' | 'table'; readonly schema: Schema | null }
  /** Qualified names of interfaces. */
  | { readonly type: 'module'; readonly interfaces: readonly string[] }

export interface Param {
  readonly name: string
  readonly type: Type | null
}

/** How a capability is managed: once (no parameter), or by a function of the amount that is left and the one asked for. */
export interface Managed {
  /** Index of the parameter that is managed, and the function that manages it; null: it can be used once. */
  readonly by: { readonly param: number; readonly manager: string } | null
}

export type FunKind = 'defun' | 'defcap' | 'defpact'

/** A function, capability or pact of a module. */
export class Fun extends Callable {
  readonly module: Module
  readonly name: string
  readonly qualified: string
  readonly kind: FunKind
  readonly params: readonly Param[]
  readonly result: Type | null
  /** Set once all definitions of the module are known; empty in interfaces. Steps of a pact. */
  body: readonly Expr[] = []
  steps: readonly PactStep[] = []
  readonly managed: Managed | null
  readonly isEvent: boolean

  constructor(
    module: Module,
    kind: FunKind,
    name: string,
    params: readonly Param[],
    result: Type | null,
    marks: { readonly managed: Managed | null; readonly isEvent: boolean },
  ) {
    super()
    this.module = module
    this.kind = kind
    this.name = name
    this.qualified = `${module.name}.${name}`
    this.params = params
    this.result = result
    this.managed = marks.managed
    this.isEvent = marks.isEvent
  }
}

export interface PactStep {
  readonly run: Expr
  readonly rollback: Expr | null
}

export class Const {
  readonly kind = 'defconst'
  readonly owner: Module
  readonly name: string
  #value: Value | undefined
  /** null: it is evaluated. What it is evaluated by is let go then, with the command that it is part of. */
  #evaluate: (() => Value) | null

  constructor(owner: Module, name: string, evaluate: () => Value) {
    this.owner = owner
    this.name = name
    this.#evaluate = evaluate
  }

  /** Evaluates it, once. */
  get value(): Value {
    if (this.#evaluate !== null) {
      this.#value = this.#evaluate()
      this.#evaluate = null
    }
    return this.#value as Value
  }
}

export class Schema {
  readonly kind = 'defschema'
  readonly owner: Module
  readonly name: string
  readonly fields: ReadonlyMap<string, Type | null>

  constructor(owner: Module, name: string, fields: ReadonlyMap<string, Type | null>) {
    this.owner = owner
    this.name = name
    this.fields = fields
  }
}

/** A table with the schema of its rows; null: rows have any fields. */
export class TableDefinition extends TableRef {
  readonly kind = 'deftable'
  readonly owner: Module
  readonly schema: Schema | null
  /** Where its rows are in a state. */
  readonly rows: Domain

  constructor(owner: Module, name: string, schema: Schema | null) {
    super(owner.name, name)
    this.owner = owner
    this.rows = `table:${this.qualified}`
    this.schema = schema
  }
}

export type Definition = Fun | Const | Schema | TableDefinition

/** The module that a definition is of. */
export function ownerOf(definition: Definition): Module {
  return definition instanceof Fun ? definition.module : definition.owner
}

export type Governance = { readonly keyset: string } | { readonly capability: string }

export class Module {
  /** `module` or `namespace.module`. */
  readonly name: string
  readonly namespace: string | null
  readonly isInterface: boolean
  readonly code: string
  readonly hash: string
  /** Hash of the command that loaded it. */
  readonly txHash: string
  /** Where its text began in the text of that command. */
  readonly place: TextPlace
  readonly definitions = new Map<string, Definition>()
  /** Members of other modules, by the names they have here. */
  readonly imports = new Map<string, Definition>()
  readonly interfaces: string[] = []
  /** Hashes of earlier versions that stay valid. */
  readonly blessed = new Set<string>()
  /** Other modules that it was loaded with, by their names. Upgrades of those do not reach it. */
  readonly dependencies = new Map<string, Module>()
  /** Names that it has from the top level (by `use`, and of modules of the same command) -> whose members they are. */
  readonly outside = new Map<string, Module>()
  governance: Governance = { keyset: '' }

  constructor(about: Pick<Module, 'name' | 'namespace' | 'isInterface' | 'code' | 'hash' | 'txHash' | 'place'>) {
    this.name = about.name
    this.namespace = about.namespace
    this.isInterface = about.isInterface
    this.code = about.code
    this.hash = about.hash
    this.txHash = about.txHash
    this.place = about.place
  }

  /** The name without its namespace. */
  get bareName(): string {
    return this.namespace === null ? this.name : this.name.slice(this.namespace.length + 1)
  }

  get(name: string): Definition | undefined {
    return this.definitions.get(name)
  }

  /** Whether it is the same version of the same module, which may have been made twice. */
  isSame(other: Module | null): boolean {
    return this === other || (this.name === other?.name && this.hash === other.hash)
  }
}

export interface Yield {
  readonly data: ObjectValue
  /** Set where the next step runs on another chain. */
  readonly provenance: { readonly chain: string; readonly moduleHash: string } | null
  /** The chain that it comes from. */
  readonly source: string
}

/** A pact as it is kept between its steps. */
export interface PactState {
  readonly id: string
  readonly fun: Fun
  readonly args: readonly Value[]
  readonly step: number
  readonly yielded: Yield | null
  readonly nested: ReadonlyMap<string, PactState>
}

/** A step of a pact under way. */
export interface PactRun {
  readonly id: string
  readonly fun: Fun
  readonly args: readonly Value[]
  readonly step: number
  readonly isRollback: boolean
  /** Of the step before. */
  readonly resumed: Yield | null
  yielded: Yield | null
  readonly nested: Map<string, PactState>
}

/** A granted capability, with those that it is composed of. */
export interface Slot {
  token: CapabilityToken
  readonly composed: CapabilityToken[]
}

/** A managed capability that was installed: what is left of it. */
export interface Installed {
  readonly fun: string
  /** All arguments but the managed one, and the token as it was installed. */
  readonly fixed: readonly Value[]
  readonly token: CapabilityToken
  /** What is left of the managed argument; undefined: it can be used once. */
  left: Value | undefined
  isUsed: boolean
}

/** The state of one transaction: what it says, what it has changed so far, and what it may still use. */
export interface TransactionScope {
  readonly message: Message
  /** The layer that writes go into. */
  state: Layer
  readonly gas: GasMeter
  readonly events: EmittedEvent[]
  /** Names of modules whose administrator the command is. */
  admin: Set<string>
  /** Managed capabilities that were installed, and what is left of them. */
  installed: Installed[]
  /** Comparisons of capabilities so far: the first ones are free. */
  comparisons: number
}

/** The state of one text, or of one step of a pact that is continued. */
export interface ProgramScope {
  /** Members of modules in scope at the top level. */
  imports: Map<string, Definition>
  namespace: string | null
  /** The module that is being loaded. */
  loading: Module | null
  /** The pact that was begun or continued, once its step is done. */
  lastPact: PactRun | null
  /** Whether a pact was begun or continued: a program may do so once. */
  hasRunPact: boolean
}

/** The calls under way. Between two forms at the top level there are none, unless one has failed. */
export interface CallScope {
  /** Functions of modules, the outermost first. */
  readonly frames: Fun[]
  /** Granted capabilities. */
  readonly slots: Slot[]
  /** Capabilities whose bodies run. */
  readonly evaluated: CapabilityToken[]
  /** Above 0: nothing may be written, as in tests and guards. */
  readOnly: number
  /** Steps within each other. */
  depth: number
  /** The pact under way. */
  pact: PactRun | null
  /** Where the innermost native was called. */
  nativePlace: TextPlace | null
}

/** What code may ask of the evaluator, and the scopes that it reads and changes. */
export interface Run extends Host {
  /** Functions and constants of the language. */
  readonly natives: ReadonlyMap<string, Term>
  readonly block: BlockScope
  readonly transaction: TransactionScope
  readonly program: ProgramScope
  readonly call: CallScope
  /** The module whose function runs, or that is being loaded; null: code of the top level runs. */
  readonly module: Module | null

  /** Evaluates with a bound on the depth. */
  evaluate(expr: Expr, env: Env | null): Term
  /** As `evaluate`, and demands a value: neither a function nor a table. */
  value(expr: Expr, env: Env | null): Value
  /** Evaluates all, and gives the value of the last one. */
  sequence(exprs: readonly Expr[], env: Env | null): Term
  /** Calls a function of a module. A capability gives its token, a pact is begun. */
  callFun(fun: Fun, args: readonly Term[], place: TextPlace): Term
  /** Runs the body of a function or capability. */
  runBody(fun: Fun, args: readonly Term[], place: TextPlace): Term
  /** Runs a step of a pact, or the rollback of one. */
  runStep(fun: Fun, step: Expr, args: readonly Value[], place: TextPlace): Term
  /** Throws EvalError for a term that is not of its declared type. */
  checkType(type: Type | null, term: Term): void
  /** Evaluates what must not write. */
  readingOf(expr: Expr, env: Env | null): Term
  /** Runs what must not write. */
  reading<T>(body: () => T): T
  /** Runs what may fail. A failure of the code itself undoes all but the gas, and gives `caught`. */
  attempt<T>(body: () => T, caught: (error: ContractError) => T): T
  /** Adds an event of a capability. */
  emit(fun: Fun, params: readonly Value[]): void
  /** A module by its qualified name. */
  findModule(name: string): Module | undefined
}
