/**
 * Values of the contract language.
 *
 * Strings, booleans and integers are JavaScript values (integers are bigint, unbounded), lists are arrays, objects are
 * maps. The other kinds are classes.
 */
import type { Decimal } from './decimal.ts'

/** Any value of the language. */
export type Value =
  | string
  | boolean
  | bigint
  | Decimal
  | Time
  | Unit
  | readonly Value[]
  | ObjectValue
  | Guard
  | ModuleRef
  | CapabilityToken
  | TableRef

/** Field name -> value. The order of fields has no meaning. */
export type ObjectValue = ReadonlyMap<string, Value>

/** Time in microseconds since 1970, UTC. */
export class Time {
  readonly micros: bigint

  constructor(micros: bigint) {
    this.micros = micros
  }
}

/** Result of expressions that have no value. */
export class Unit {
  /** Gives the class a structural type of its own. */
  readonly isUnit = true
}
/** The only instance of Unit. */
export const UNIT = new Unit()

/** Condition that must hold before an action. Names of functions and capabilities are qualified: `ns.module.name`. */
export type GuardKind =
  | { readonly kind: 'keyset'; readonly keys: readonly string[]; readonly predicate: string }
  /** `name` may begin with a namespace: `free.admins`. */
  | { readonly kind: 'keysetRef'; readonly name: string }
  | { readonly kind: 'user'; readonly fun: string; readonly args: readonly Value[] }
  | {
      readonly kind: 'capability'
      readonly name: string
      readonly args: readonly Value[]
      readonly pactId: string | null
    }
  | { readonly kind: 'module'; readonly module: string; readonly name: string }
  | { readonly kind: 'pact'; readonly pactId: string; readonly name: string }

/** A guard as a value of the language. */
export class Guard {
  readonly is: GuardKind

  constructor(is: GuardKind) {
    this.is = is
  }
}

/** A module as a value; callers can use the functions of the interfaces that it implements. */
export class ModuleRef {
  /** `module` or `ns.module`. */
  readonly name: string
  readonly interfaces: readonly string[]

  constructor(name: string, interfaces: readonly string[]) {
    this.name = name
    this.interfaces = interfaces
  }
}

/** A capability with its arguments; says nothing about whether it is granted. */
export class CapabilityToken {
  /** `module.CAP` or `ns.module.CAP`. */
  readonly name: string
  readonly args: readonly Value[]

  constructor(name: string, args: readonly Value[]) {
    this.name = name
    this.args = args
  }
}

/** A declared type with resolved names. */
export type Type =
  | { readonly type: 'string' | 'integer' | 'decimal' | 'bool' | 'time' | 'guard' | 'keyset' | 'unit' | 'any' }
  | { readonly type: 'list'; readonly item: Type | null }
  | { readonly type: 'object' | 'table'; readonly schema: RowSchema | null }
  /** Qualified names of interfaces. */
  | { readonly type: 'module'; readonly interfaces: readonly string[] }

/** Names and types of fields. A null type takes any value. */
export interface RowSchema {
  readonly name: string
  /** `module.schema` or `ns.module.schema`. */
  readonly qualified: string
  readonly fields: ReadonlyMap<string, Type | null>
}

/**
 * A table of a module, created or not.
 *
 * It belongs to the version of its module that named it, and keeps the schema of that version. So a table that a row, a
 * pact or a constant keeps means the same after an upgrade of its module.
 */
export class TableRef {
  /** Qualified name of the module. */
  readonly module: string
  readonly name: string
  readonly qualified: string
  readonly #owner: { readonly hash: string }
  /** Schema of the rows. Null allows rows with any fields. */
  readonly schema: RowSchema | null

  /** @param owner module of the table; its hash is known once it is loaded */
  constructor(module: string, name: string, owner: { readonly hash: string }, schema: RowSchema | null) {
    this.module = module
    this.name = name
    this.qualified = `${module}.${name}`
    this.#owner = owner
    this.schema = schema
  }

  /** Hash of the module. */
  get hash(): string {
    return this.#owner.hash
  }
}
