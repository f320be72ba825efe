/**
 * Values, types, resolved terms and definitions of the model, as the rules of the original name them
 * (Pact/Core: PactValue.hs, Type.hs, Guards.hs, IR/Term.hs, Names.hs of Pact 5).
 */

/** Mantissa and places: mantissa / 10^places. */
export interface Dec {
  readonly m: bigint
  readonly p: number
}

/** A definition of one version of a module: module, name, hash. */
export interface Fqn {
  readonly m: string
  readonly n: string
  readonly h: string
}

export interface Schema {
  /** Qualified name. */
  readonly name: string
  readonly fields: ReadonlyMap<string, Ty>
}

export type Ty =
  | { readonly t: 'prim'; readonly p: 'integer' | 'decimal' | 'bool' | 'string' | 'guard' | 'time' | 'unit' }
  | { readonly t: 'list'; readonly of: Ty }
  | { readonly t: 'any-list' | 'any-object' | 'any' }
  | { readonly t: 'modref'; readonly faces: readonly string[] }
  | { readonly t: 'object' | 'table'; readonly schema: Schema }

export type Guard =
  | { readonly g: 'keyset'; readonly keys: readonly string[]; readonly pred: string }
  | { readonly g: 'keyset-ref'; readonly name: string }
  | { readonly g: 'user'; readonly fun: string; readonly args: readonly Value[] }
  | { readonly g: 'capability'; readonly name: string; readonly args: readonly Value[]; readonly pact: string | null }
  | { readonly g: 'module'; readonly module: string; readonly name: string }
  | { readonly g: 'pact'; readonly pact: string; readonly name: string }

export interface Table {
  readonly module: string
  readonly name: string
  readonly hash: string
  readonly schema: Schema
}

export type Value =
  | { readonly v: 'string'; readonly s: string }
  | { readonly v: 'integer'; readonly n: bigint }
  | { readonly v: 'decimal'; readonly d: Dec }
  | { readonly v: 'bool'; readonly b: boolean }
  | { readonly v: 'unit' }
  | { readonly v: 'time'; readonly micros: bigint }
  | { readonly v: 'list'; readonly items: readonly Value[] }
  | { readonly v: 'object'; readonly fields: ReadonlyMap<string, Value> }
  | { readonly v: 'guard'; readonly g: Guard }
  | { readonly v: 'modref'; readonly module: string; readonly faces: readonly string[] }
  | { readonly v: 'token'; readonly fqn: Fqn; readonly args: readonly Value[] }
  | ({ readonly v: 'table' } & Table)

export type Kind =
  | { readonly k: 'bound'; readonly index: number }
  | { readonly k: 'top'; readonly m: string; readonly h: string }
  | { readonly k: 'modref'; readonly m: string; readonly faces: readonly string[] }
  | { readonly k: 'dynamic'; readonly member: string; readonly index: number }

export interface Name {
  readonly n: string
  readonly kind: Kind
}

export type Special =
  | 'and'
  | 'or'
  | 'if'
  | 'enforce-one'
  | 'enforce'
  | 'with-capability'
  | 'try'
  | 'create-user-guard'
  | 'error'
  | 'pure'

/** `N` is the kind of names and `Y` that of types: as read, or as resolved. `i` is the line. */
export interface Arg<Y> {
  readonly n: string
  readonly ty: Y | null
  readonly i: number
}

export type Term<N, Y> =
  | { readonly k: 'var'; readonly name: N; readonly i: number }
  | { readonly k: 'lam'; readonly args: readonly Arg<Y>[]; readonly body: Term<N, Y>; readonly i: number }
  | {
      readonly k: 'let'
      readonly arg: Arg<Y>
      readonly e1: Term<N, Y>
      readonly e2: Term<N, Y>
      readonly i: number
    }
  | { readonly k: 'app'; readonly fn: Term<N, Y>; readonly args: readonly Term<N, Y>[]; readonly i: number }
  | { readonly k: 'seq'; readonly e1: Term<N, Y>; readonly e2: Term<N, Y>; readonly i: number }
  | { readonly k: 'nullary'; readonly body: Term<N, Y>; readonly i: number }
  | { readonly k: 'special'; readonly form: Special; readonly terms: readonly Term<N, Y>[]; readonly i: number }
  | { readonly k: 'native'; readonly native: string; readonly i: number }
  | { readonly k: 'constant'; readonly value: Value; readonly i: number }
  | { readonly k: 'list'; readonly items: readonly Term<N, Y>[]; readonly i: number }
  | { readonly k: 'object'; readonly fields: readonly (readonly [string, Term<N, Y>])[]; readonly i: number }

export type Core = Term<Name, Ty>

export interface PactStep {
  readonly run: Core
  readonly rollback: Core | null
}

export type ManagedMeta =
  | { readonly meta: 'none' | 'event' | 'auto' }
  | { readonly meta: 'by'; readonly index: number; readonly param: string; readonly manager: Fqn }

/** The managers of capabilities in interfaces are bare names. */
export type FaceMeta =
  | { readonly meta: 'none' | 'event' | 'auto' }
  | { readonly meta: 'by'; readonly index: number; readonly param: string; readonly manager: string }

export interface Signature {
  readonly spec: Arg<Ty>
  readonly args: readonly Arg<Ty>[]
  readonly i: number
}

export type Defun = Signature & { readonly d: 'defun'; readonly term: Core }
export type Defcap = Signature & { readonly d: 'defcap'; readonly term: Core; readonly meta: ManagedMeta }
export type Defpact = Signature & { readonly d: 'defpact'; readonly steps: readonly PactStep[] }
export interface Defconst {
  readonly d: 'defconst'
  readonly spec: Arg<Ty>
  readonly value: { readonly term: Core } | { readonly value: Value }
  readonly i: number
}
export interface Defschema {
  readonly d: 'defschema'
  readonly name: string
  readonly fields: ReadonlyMap<string, Ty>
  readonly i: number
}
export interface Deftable {
  readonly d: 'deftable'
  readonly name: string
  readonly schema: Schema
  readonly i: number
}
export type Def = Defun | Defcap | Defpact | Defconst | Defschema | Deftable
export type FaceDef =
  | Defconst
  | Defschema
  | (Signature & { readonly d: 'face-defun' | 'face-defpact' })
  | (Signature & { readonly d: 'face-defcap'; readonly meta: FaceMeta })

export interface Import {
  readonly module: string
  readonly names: readonly string[] | null
}

export interface Module {
  readonly is: 'module'
  readonly name: string
  readonly governance: { readonly keyset: string } | { readonly capability: Fqn }
  readonly defs: readonly Def[]
  readonly imports: readonly Import[]
  readonly faces: readonly string[]
  readonly hash: string
  readonly txHash: string
  readonly i: number
}

export interface Face {
  readonly is: 'interface'
  readonly name: string
  readonly defs: readonly FaceDef[]
  readonly imports: readonly Import[]
  readonly hash: string
  readonly txHash: string
  readonly i: number
}

/** A module with the definitions of others that it needs, by key of their names. */
export interface ModuleData {
  readonly module: Module | Face
  readonly deps: ReadonlyMap<string, Loaded>
}

export interface Loaded {
  readonly fqn: Fqn
  readonly def: Def
}

export interface Namespace {
  readonly name: string
  readonly user: Guard
  readonly admin: Guard
}

export interface Yield {
  readonly data: ReadonlyMap<string, Value>
}

export interface PactExec {
  readonly count: number
  readonly yielded: Yield | null
  readonly step: number
  readonly id: string
  /** Qualified name. */
  readonly name: string
  readonly args: readonly Value[]
  readonly hasRollback: boolean
  readonly nested: ReadonlyMap<string, PactExec>
}

export const str = (s: string): Value => ({ v: 'string', s })
export const int = (n: bigint | number): Value => ({ v: 'integer', n: BigInt(n) })
export const bool = (b: boolean): Value => ({ v: 'bool', b })
export const dec = (d: Dec): Value => ({ v: 'decimal', d })
export const list = (items: readonly Value[]): Value => ({ v: 'list', items })
export const guard = (g: Guard): Value => ({ v: 'guard', g })
export const UNIT: Value = { v: 'unit' }

/** Fields are a map that is sorted by name. */
export function objectOf(fields: Iterable<readonly [string, Value]>): Value {
  return { v: 'object', fields: sortedMap(fields) }
}

export function sortedMap<T>(entries: Iterable<readonly [string, T]>): Map<string, T> {
  const map = new Map(entries)
  return new Map([...map].sort(([a], [b]) => compareTexts(a, b)))
}

/** Order of code points, which is that of the bytes in UTF-8. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

export const keyOf = ({ m, n, h }: Fqn): string => `${m}.${n}.{${h}}`
export const qualifiedOf = ({ m, n }: Fqn): string => `${m}.${n}`

/** The parts of `ns.module` or `module`. */
export function splitModule(name: string): { readonly bare: string; readonly namespace: string | null } {
  const at = name.lastIndexOf('.')
  return at < 0 ? { bare: name, namespace: null } : { bare: name.slice(at + 1), namespace: name.slice(0, at) }
}

/** The parts of `ns.module.member` or `module.member`. */
export function splitQualified(name: string): { readonly module: string; readonly member: string } {
  const at = name.lastIndexOf('.')
  return { module: name.slice(0, at), member: name.slice(at + 1) }
}

/** Order of modules: by name, then by namespace. A module without one comes first (Names.hs, ModuleName). */
export function compareModules(a: string, b: string): number {
  const [x, y] = [splitModule(a), splitModule(b)]
  return compareTexts(x.bare, y.bare) || compareTexts(x.namespace ?? '', y.namespace ?? '')
}

/** Order of definitions: module, name, bytes of the hash (Names.hs, FullyQualifiedName). */
export function compareFqns(a: Fqn, b: Fqn): number {
  return compareModules(a.m, b.m) || compareTexts(a.n, b.n) || Buffer.compare(hashBytesOf(a.h), hashBytesOf(b.h))
}

/** Hash that a module has while it is loaded (Hash.hs, placeholderHash; Desugar.hs, desugarInterface). */
export const PLACEHOLDER = { module: '#placeholder', interface: 'placeholder' } as const

/** Bytes of a hash: a placeholder is its text. */
export function hashBytesOf(hash: string): Buffer {
  if (hash === PLACEHOLDER.module || hash === PLACEHOLDER.interface) return Buffer.from(hash)
  return Buffer.from(hash, 'base64url')
}

export function nameOfDef(def: Def | FaceDef): string {
  return 'spec' in def ? def.spec.n : def.name
}

/** Definitions of an interface that others can name: constants and schemas (Term.hs, ifDefToDef). */
export function visibleDefs({ is, defs }: Module | Face): readonly Def[] {
  if (is === 'module') return defs as readonly Def[]
  return (defs as readonly FaceDef[]).filter((def): def is Defconst | Defschema => {
    return def.d === 'defconst' || def.d === 'defschema'
  })
}
