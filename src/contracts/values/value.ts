/**
 * Values of the contract language.
 *
 * Strings, booleans and integers are JavaScript values (integers are bigint, unbounded), lists are arrays, objects are
 * maps. The other kinds are classes.
 */
import type { Decimal } from './decimal.ts'
import type { TableRef } from './type.ts'

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
