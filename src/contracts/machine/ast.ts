/** Modules, interfaces and what they define. */
import type { Place } from '../errors.ts'
import type { Value } from '../values/value.ts'
import type { Expr } from './expr.ts'
import type { Domain } from './state.ts'
import { Callable, TableRef } from './term.ts'
import type { Type } from './types.ts'

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
  steps: readonly Step[] = []
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

export interface Step {
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
export class Table extends TableRef {
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

export type Definition = Fun | Const | Schema | Table

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
  readonly place: Place
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

interface NameParts {
  readonly module: string
  readonly member: string
}

/** Names that were split; programs have few, and short ones. */
const MAX_KNOWN = 10_000
const MAX_KNOWN_CHARACTERS = 200
const known = new Map<string, NameParts | null>()

/** Splits `ns.module.member` at its last dot; null: there is none. */
export function splitName(name: string): NameParts | null {
  const before = known.get(name)
  if (before !== undefined) return before
  const dot = name.lastIndexOf('.')
  const parts = dot > 0 ? { module: name.slice(0, dot), member: name.slice(dot + 1) } : null
  if (name.length > MAX_KNOWN_CHARACTERS) return parts
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(name, parts)
  return parts
}
