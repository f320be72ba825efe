/** Expanded code, scopes of a run and the interface of the evaluator, in one file: their types refer to each other. */

import type { ContractError, TextPlace } from '../errors.ts'
import { shortHash } from '../values/hash.ts'
import {
  type CapabilityToken,
  type ObjectValue,
  type RowSchema,
  TableRef,
  type Type,
  type Value,
} from '../values/value.ts'
import type { AccessMode } from './access-mode.ts'
import type { BlockScope, EmittedEvent, GasMeter, Message } from './environment.ts'
import type { GrantedCapability, InstalledCapability, SignerCapabilities } from './grants.ts'
import type { LoadedModules, ModuleLookup } from './module-lookup.ts'
import type { NativeHost } from './native.ts'
import { type Domain, domainOfRows, type Layer } from './state.ts'
import { Callable, type Term } from './term.ts'
import type { Tracer } from './tracer.ts'

/** Values of local variables as a linked list, innermost first. */
export interface Env {
  readonly value: Term
  readonly up: Env | null
}

/** Code with resolved names. Variables are addressed by distance, not by name. */
export interface Expr {
  readonly place: TextPlace
  evaluate(run: Run, env: Env | null): Term
}

export interface Param {
  readonly name: string
  readonly type: Type | null
}

/** The managed parameter of a capability, and its manager. */
export interface ManagedParam {
  readonly param: number
  /** Name of the manager as written. */
  readonly name: string
  /** Function that takes the amount left and the amount requested. Null until its name is resolved. */
  manager: FunctionDefinition | null
}

/** Management of a capability. */
export interface Management {
  /** Null for a capability that can be used once. */
  readonly by: ManagedParam | null
}

export type FunctionKind = 'defun' | 'defcap' | 'defpact'

/** A function, capability or pact of a module. */
export class FunctionDefinition extends Callable {
  readonly module: Module
  readonly name: string
  readonly qualified: string
  /** Hash of the qualified name. Numbers compare faster than texts. */
  readonly nameHash: number
  readonly kind: FunctionKind
  readonly params: readonly Param[]
  readonly result: Type | null
  /** Body of a function or capability, set after all definitions are declared; empty in interfaces and pacts. */
  body: readonly Expr[] = []
  steps: readonly PactStep[] = []
  readonly managed: Management | null
  readonly isEvent: boolean

  constructor(
    module: Module,
    kind: FunctionKind,
    name: string,
    params: readonly Param[],
    result: Type | null,
    marks: { readonly managed: Management | null; readonly isEvent: boolean },
  ) {
    super()
    this.module = module
    this.kind = kind
    this.name = name
    this.qualified = `${module.name}.${name}`
    this.nameHash = shortHash(this.qualified)
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
  /** Evaluates the constant; null afterwards, so that the closure and its command can be garbage-collected. */
  #evaluate: (() => Value) | null

  constructor(owner: Module, name: string, evaluate: () => Value) {
    this.owner = owner
    this.name = name
    this.#evaluate = evaluate
  }

  /** Value of the constant; the first access evaluates it. */
  get value(): Value {
    this.evaluate()
    return this.#value as Value
  }

  /** Evaluates the constant, unless that is done. */
  evaluate(): void {
    if (this.#evaluate === null) return
    this.#value = this.#evaluate()
    this.#evaluate = null
  }
}

export class Schema implements RowSchema {
  readonly kind = 'defschema'
  readonly owner: Module
  readonly name: string
  readonly qualified: string
  readonly fields: ReadonlyMap<string, Type | null>

  constructor(owner: Module, name: string, fields: ReadonlyMap<string, Type | null>) {
    this.owner = owner
    this.name = name
    this.qualified = `${owner.name}.${name}`
    this.fields = fields
  }
}

/** A table as its module defines it. */
export class TableDefinition extends TableRef {
  readonly kind = 'deftable'
  readonly owner: Module
  /** Domain of its rows in the state. */
  readonly rows: Domain

  constructor(owner: Module, name: string, schema: RowSchema | null) {
    super(owner.name, name, owner, schema)
    this.owner = owner
    this.rows = domainOfRows(this)
  }
}

export type Definition = FunctionDefinition | Const | Schema | TableDefinition

/** The module that contains a definition. */
export function ownerOf(definition: Definition): Module {
  return definition instanceof FunctionDefinition ? definition.module : definition.owner
}

/** A member of a certain version of a module, as code refers to it. */
export interface MemberTarget {
  readonly module: Module
  readonly name: string
}

/** Size of a definition in parts, and what the search for dependencies sees of it. */
export interface DefinitionMeasure {
  /** Bytes without places, natives and hashes of the module itself. */
  readonly bytes: number
  readonly places: number
  readonly natives: number
  /** Hashes of the module itself. */
  readonly ownHashes: number
  /** Number of terms. */
  readonly terms: number
  /** Bytes as stored, once the module has its hash. */
  stored: number
  /** Members that the code refers to, in the order of the text. */
  readonly targets: readonly MemberTarget[]
}

/** A definition of another module, or of another version of the same. */
export interface Dependency extends MemberTarget {
  readonly measure: DefinitionMeasure
}

/** The part of a stored module that other modules refer to. */
export interface ModuleImage {
  /** Its definitions by name, in the order of the network. */
  readonly measures: ReadonlyMap<string, DefinitionMeasure>
  readonly dependencies: ReadonlyMap<string, Dependency>
  /** Size of all of it, for the price of storing it. */
  readonly bytes: number
  /** Size of all of it as stored, for the price of reading it. */
  readonly stored: number
  /** The same on a network, which keeps shorter places than test files. */
  readonly networkBytes: number
  /** Milligas by which loading costs more in test files than on a network. */
  readonly surplus: number
}

export type Governance = { readonly keyset: string } | { readonly capability: string }

export class Module {
  /** `module` or `namespace.module`. */
  readonly name: string
  readonly namespace: string | null
  readonly isInterface: boolean
  readonly code: string
  /** Hash of the module, in base64url. A placeholder until its constants are evaluated. */
  hash: string
  /** Sizes and dependencies, for modules that refer to this one. Null until it is installed. */
  image: ModuleImage | null = null
  /** Hash of the command that loaded the module. */
  readonly txHash: string
  /** Position of the module in the text of that command. */
  readonly place: TextPlace
  /** Name of the test file with that text, which is part of the module's size. Null on a network. */
  file: string | null = null
  readonly definitions = new Map<string, Definition>()
  /** Imported members of other modules, by local name. */
  readonly imports = new Map<string, Definition>()
  readonly interfaces: string[] = []
  /** Hashes of earlier versions that remain valid. */
  readonly blessed = new Set<string>()
  /** Other modules by name, in the versions that this module was loaded with. Their upgrades do not affect it. */
  readonly dependencies = new Map<string, Module>()
  /**
   * Names resolved at the top level (through `use`, or from modules of the same command) -> the module of the member.
   */
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

  /** Name without the namespace. */
  get bareName(): string {
    return this.namespace === null ? this.name : this.name.slice(this.namespace.length + 1)
  }

  get(name: string): Definition | undefined {
    return this.definitions.get(name)
  }

  /** True for the same version of the same module, even if it was instantiated twice. */
  isSame(other: Module | null): boolean {
    return this === other || (this.name === other?.name && this.hash === other.hash)
  }
}

export interface Yield {
  readonly data: ObjectValue
  /** Target chain and module hash if the next step runs on another chain. */
  readonly provenance: { readonly chain: string; readonly moduleHash: string } | null
  /** Id of the chain that yielded, or null for a yield to the same chain. */
  readonly source: string | null
}

/** State of a pact, stored between steps. `evaluate/pacts.ts` has its life cycle. */
export interface PactState {
  readonly id: string
  readonly fun: FunctionDefinition
  readonly args: readonly Value[]
  readonly step: number
  readonly yielded: Yield | null
  readonly nested: ReadonlyMap<string, PactState>
}

/** State of a pact while a step of it runs, and until the end of the transaction. */
export interface PactRun {
  readonly id: string
  readonly fun: FunctionDefinition
  readonly args: readonly Value[]
  readonly step: number
  yielded: Yield | null
  readonly nested: Map<string, PactState>
}

/** The step that runs: which one, and what it may resume. A pact within it runs the same step. */
export interface PactStepScope {
  readonly id: string
  readonly step: number
  readonly isRollback: boolean
  /** Yield of the previous step. */
  readonly resumed: Yield | null
}

/** State of one transaction: its message, its effects so far and its remaining permissions. */
export interface TransactionScope {
  readonly message: Message
  /** The layer that receives writes. */
  state: Layer
  readonly gas: GasMeter
  /** Bytes of all values that were made so far (see memory-meter.ts). */
  readonly memory: { made: number }
  readonly events: EmittedEvent[]
  /** Names of modules for which the command has acquired admin rights. */
  admin: Set<string>
  /** Installed managed capabilities with their remaining amounts. */
  installed: readonly InstalledCapability[]
  /** Index of the capabilities that the signers list. Null until a managed one is acquired. */
  listed: SignerCapabilities | null
  /** True once code has called `install-capability`: from then on, only scoped signatures count. */
  hasInstalled: boolean
  /** Definitions of the capabilities whose tokens this transaction has made. */
  readonly capabilities: WeakMap<CapabilityToken, FunctionDefinition>
  /** Number of capability comparisons so far; the first ones are free. */
  comparisons: number
}

/** State of one program, or of one continued step of a pact. */
export interface ProgramScope {
  /** Members of modules in scope at the top level. */
  imports: Map<string, Definition>
  namespace: string | null
  /** Modules that the program has looked up or loaded so far. */
  loaded: LoadedModules<Module>
  /** The module being loaded. */
  loading: Module | null
  /** The pact of the step that runs, or ran last. A program starts or continues one pact. */
  pact: PactRun | null
}

/** The call stack. It is empty between top-level forms unless one has failed. */
export interface CallScope {
  /** Functions of modules, outermost first. */
  readonly frames: FunctionDefinition[]
  /** Granted capabilities. */
  readonly slots: GrantedCapability[]
  /** Capabilities whose bodies are running. */
  readonly evaluated: CapabilityToken[]
  /** Mode of the running code. */
  mode: AccessMode
  /** Current nesting of evaluation steps. */
  depth: number
  /** The step of a pact that runs. */
  step: PactStepScope | null
  /** Place of the innermost call of a native. */
  nativePlace: TextPlace | null
}

/** Interface of the evaluator for code, with the scopes that code reads and changes. */
export interface Run extends NativeHost {
  /** Functions and constants of the language. */
  readonly natives: ReadonlyMap<string, Term>
  readonly block: BlockScope
  readonly transaction: TransactionScope
  readonly program: ProgramScope
  readonly call: CallScope
  /** Module of the running function, or the module being loaded. Null for code at the top level. */
  readonly module: Module | null
  readonly tracer: Tracer | null

  /** Evaluates an expression. Enforces the depth limit. */
  evaluate(expr: Expr, env: Env | null): Term
  /** As `evaluate`. @throws EvalError unless the result is a value (not a function or a table) */
  value(expr: Expr, env: Env | null): Value
  /**
   * Evaluates all expressions.
   * @returns the result of the last one
   */
  sequence(exprs: readonly Expr[], env: Env | null): Term
  /** Calls a function of a module. A defcap returns its token, a defpact starts the pact. */
  callFun(fun: FunctionDefinition, args: readonly Term[], place: TextPlace): Term
  /** Runs the body of a function or capability whose arguments are checked. */
  runBody(fun: FunctionDefinition, args: readonly Term[], place: TextPlace): Term
  /** Runs a step of a pact, or its rollback, with arguments that are checked. */
  runStep(fun: FunctionDefinition, step: Expr, args: readonly Value[], place: TextPlace): Term
  /** @throws EvalError if the term is not of the declared type */
  checkType(type: Type | null, term: Term): void
  /** Runs the body of a capability. Type checks are done. */
  runCapability(fun: FunctionDefinition, args: readonly Value[]): void
  /** Runs `body` in a mode. */
  inMode<T>(mode: AccessMode, body: () => T): T
  /**
   * Runs `body`. A TxFailure becomes the result of `caught`. It takes back grants, installations and admin rights, but
   * neither events nor writes.
   */
  attempt<T>(body: () => T, caught: (error: ContractError) => T): T
  /** Emits an event of a capability. */
  emit(fun: FunctionDefinition, params: readonly Value[]): void
  /** Finds a module by its qualified name, and charges for the look-up. @param by default: code that runs */
  findModule(name: string, by?: ModuleLookup): Module | undefined
  /** Charges for a look-up of a module that was found without gas. */
  noteLookup(module: Module, by: ModuleLookup, place?: TextPlace): void
}
