/**
 * Values of the contract language. Strings, booleans and integers are those of JavaScript (integers as bigint, without
 * bound), lists are arrays, objects are maps; the others are classes.
 */
import type { Decimal } from './decimal.ts'

/** A value of the language. */
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

/** Field -> value. The order of fields has no meaning. */
export type ObjectValue = ReadonlyMap<string, Value>

/** Microseconds since 1970, UTC. */
export class Time {
  readonly micros: bigint

  constructor(micros: bigint) {
    this.micros = micros
  }
}

/** The value of what has none. */
export class Unit {
  /** Makes the class unlike all others. */
  readonly isUnit = true
}
/** The one value of that kind. */
export const UNIT = new Unit()

/** What has to agree before something happens. Names of functions and capabilities are qualified: `ns.module.name`. */
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

/** A guard as a value. */
export class Guard {
  readonly is: GuardKind

  constructor(is: GuardKind) {
    this.is = is
  }
}

/** A module as a value: functions of the interfaces it implements can be called through it. */
export class ModuleRef {
  /** `module` or `ns.module`. */
  readonly name: string
  readonly interfaces: readonly string[]

  constructor(name: string, interfaces: readonly string[]) {
    this.name = name
    this.interfaces = interfaces
  }
}

/** A capability with its arguments, not (yet) granted. */
export class CapabilityToken {
  /** `module.CAP` or `ns.module.CAP`. */
  readonly name: string
  readonly args: readonly Value[]

  constructor(name: string, args: readonly Value[]) {
    this.name = name
    this.args = args
  }
}
