/**
 * Resolved code of a module, as the network hashes it and charges for it. Names point to their definitions, bound
 * variables are numbers, and special syntax is reduced to a few kinds of terms.
 */

import type { TextPlace } from '../../../errors.ts'
import { compareText } from '../../../values/compare.ts'
import { Decimal } from '../../../values/decimal.ts'
import { type Type, Unit, type Value } from '../../../values/value.ts'
import type { Module } from '../../ast.ts'
import type { ModuleLookup } from '../../module-lookup.ts'

/** `namespace.name`, or only a name. */
export interface ModuleName {
  readonly name: string
  readonly namespace: string | null
}

/** Splits `namespace.name`. */
export function moduleNameOf(qualified: string): ModuleName {
  const dot = qualified.indexOf('.')
  if (dot < 0) return { name: qualified, namespace: null }
  return { name: qualified.slice(dot + 1), namespace: qualified.slice(0, dot) }
}

/** Names without duplicates, by name, then by namespace. */
export function sortedNames(qualified: readonly string[]): ModuleName[] {
  const compare = (a: ModuleName, b: ModuleName) =>
    compareText(a.name, b.name) || compareText(a.namespace ?? '', b.namespace ?? '')
  return [...new Set(qualified)].map(moduleNameOf).sort(compare)
}

/** Where a part of a module stands in the text. The network keeps it with the part. */
interface Placed {
  readonly at: SourceSpan
}

export interface SourceSpan {
  readonly place: TextPlace
  /** Offset after the last character. */
  readonly to: number
}

export interface Arg extends Placed {
  readonly name: string
  readonly type: Type | null
}

export type Literal = string | bigint | Decimal | boolean | Unit

/** A constant of code, as distinct from other values. */
export function isLiteral(value: unknown): value is Literal {
  const type = typeof value
  return (
    type === 'string' || type === 'bigint' || type === 'boolean' || value instanceof Decimal || value instanceof Unit
  )
}

/** Member of a module. `module` is the version that the code was loaded with. */
export interface MemberRef {
  readonly ref: 'member'
  readonly module: Module
}

export type Reference =
  | { readonly ref: 'bound'; readonly index: number }
  | MemberRef
  | { readonly ref: 'module'; readonly module: ModuleName; readonly interfaces: readonly ModuleName[] }
  /** `m::member`, where `m` is a bound variable. */
  | { readonly ref: 'dynamic'; readonly member: string; readonly index: number }

/** Forms in the order of their numbers. */
export const FORMS = [
  'and',
  'or',
  'if',
  'enforce-one',
  'enforce',
  'with-capability',
  'try',
  'create-user-guard',
  'error',
  'pure',
] as const

export type FormName = (typeof FORMS)[number]

export type ResolvedTerm = Placed & TermContent

type TermContent =
  | { readonly term: 'variable'; readonly name: string; readonly to: Reference }
  | { readonly term: 'lambda'; readonly args: readonly Arg[]; readonly body: ResolvedTerm }
  | { readonly term: 'let'; readonly arg: Arg; readonly value: ResolvedTerm; readonly body: ResolvedTerm }
  | { readonly term: 'call'; readonly fn: ResolvedTerm; readonly args: readonly ResolvedTerm[] }
  | { readonly term: 'sequence'; readonly first: ResolvedTerm; readonly rest: ResolvedTerm }
  | { readonly term: 'nullary'; readonly body: ResolvedTerm }
  | { readonly term: 'form'; readonly form: FormName; readonly parts: readonly ResolvedTerm[] }
  | { readonly term: 'native'; readonly name: string; readonly number: number }
  | { readonly term: 'literal'; readonly value: Literal }
  | { readonly term: 'list'; readonly items: readonly ResolvedTerm[] }
  | { readonly term: 'object'; readonly fields: readonly (readonly [name: string, value: ResolvedTerm])[] }

/** Manager of a capability: a member of a module, or only its name in an interface. */
export type CapabilityMeta =
  | { readonly meta: 'none' | 'event' | 'once' }
  | {
      readonly meta: 'managed'
      readonly index: number
      readonly arg: string
      readonly manager: { readonly name: string; readonly module: Module | null }
    }

export interface ResolvedStep {
  readonly run: ResolvedTerm
  readonly rollback: ResolvedTerm | null
}

/** A definition. Functions, capabilities and pacts of interfaces have no code. */
export type ResolvedDefinition = Placed & DefinitionContent

type DefinitionContent =
  | { readonly kind: 'defun'; readonly spec: Arg; readonly args: readonly Arg[]; readonly body: ResolvedTerm | null }
  | {
      readonly kind: 'defcap'
      readonly spec: Arg
      readonly args: readonly Arg[]
      readonly body: ResolvedTerm | null
      readonly meta: CapabilityMeta
    }
  | {
      readonly kind: 'defpact'
      readonly spec: Arg
      readonly args: readonly Arg[]
      readonly steps: readonly ResolvedStep[] | null
    }
  | { readonly kind: 'defconst'; readonly spec: Arg; readonly term: ResolvedTerm; readonly value: () => Value }
  | { readonly kind: 'defschema'; readonly name: string; readonly fields: ReadonlyMap<string, Type | null> }
  | { readonly kind: 'deftable'; readonly name: string; readonly schema: Type | null }

export interface ResolvedImport {
  /** As written: without the namespace that was in scope. */
  readonly module: ModuleName
  readonly hash: Uint8Array | null
  readonly names: readonly string[] | null
}

export interface ResolvedModule extends Placed {
  readonly module: Module
  /** Offset of its first character. */
  readonly from: number
  readonly name: ModuleName
  readonly imports: readonly ResolvedImport[]
  readonly implemented: readonly ModuleName[]
  readonly blessed: readonly Uint8Array[]
  /** In the order of the network: each after those that it uses. */
  readonly definitions: readonly ResolvedDefinition[]
  /** Other modules whose members its code and its types name. */
  readonly referenced: ReadonlySet<Module>
  /** Look-ups of other modules, in the order of the network. */
  readonly lookups: readonly LookedUpModule[]
}

export interface LookedUpModule {
  readonly found: Module
  readonly by: ModuleLookup
}

export function nameOfDefinition(definition: ResolvedDefinition): string {
  return 'spec' in definition ? definition.spec.name : definition.name
}
