/**
 * Sizes in bytes that gas is charged by (PROTOCOL.md E.5; Pact/Core/SizeOf.hs and SizeOf/Deriving.hs). A record counts
 * one, a variant two, a collection five. A text counts four and its bytes.
 */
import {
  type Arg,
  type Core,
  type Def,
  type Face,
  type FaceDef,
  type FaceMeta,
  type Fqn,
  type Guard,
  hashBytesOf,
  type Import,
  type ManagedMeta,
  type Module,
  type ModuleData,
  type Name,
  type Namespace,
  type PactExec,
  type Schema,
  splitModule,
  splitQualified,
  type Table,
  type Ty,
  type Value,
  type Yield,
} from './terms.ts'

const RECORD = 1
const VARIANT = 2
const COLLECTION = 5
const INT = 5
const WORD64 = 9

export const bitsOf = (n: bigint): number => (n === 0n ? 1 : (n < 0n ? -n : n).toString(2).length)

const sum = <T>(items: Iterable<T>, size: (item: T) => number): number => {
  let all = 0
  for (const item of items) all += size(item)
  return all
}
const array = <T>(items: Iterable<T>, size: (item: T) => number): number => COLLECTION + sum(items, size)
const text = (s: string): number => Buffer.byteLength(s) + 4
const hash = (h: string): number => hashBytesOf(h).length + 4
const maybe = <T>(value: T | null, size: (value: T) => number): number => VARIANT + (value === null ? 0 : size(value))
const mapOf = <T>(map: Iterable<readonly [string, T]>, size: (value: T) => number): number =>
  array(map, ([key, value]) => RECORD + text(key) + size(value))

export const sizeOfInteger = (n: bigint): number => Math.floor(Math.max(64, bitsOf(n)) / 8)

const moduleName = (name: string): number => {
  const { bare, namespace } = splitModule(name)
  return RECORD + text(bare) + maybe(namespace, text)
}
/** Names of keysets have a namespace before the dot. */
const keysetName = moduleName
const qualified = (name: string): number => {
  const { module, member } = splitQualified(name)
  return RECORD + text(member) + moduleName(module)
}
const fqnSize = ({ m, n, h }: Fqn): number => RECORD + moduleName(m) + text(n) + hash(h)

function schemaSize({ name, fields }: Schema): number {
  return RECORD + qualified(name) + mapOf(fields, typeSize)
}

function typeSize(ty: Ty): number {
  switch (ty.t) {
    case 'prim':
      return VARIANT + 1
    case 'list':
      return VARIANT + typeSize(ty.of)
    case 'modref':
      return VARIANT + array(ty.faces, moduleName)
    case 'object':
    case 'table':
      return VARIANT + schemaSize(ty.schema)
    default:
      return VARIANT
  }
}

function predicate(pred: string): number {
  if (['keys-all', 'keys-any', 'keys-2'].includes(pred)) return VARIANT
  return VARIANT + VARIANT + (pred.includes('.') ? qualified(pred) : text(pred))
}

export const sizeOfKeyset = (keys: readonly string[], pred: string): number =>
  RECORD + array(keys, text) + predicate(pred)
export const sizeOfUserGuard = (fun: string, args: readonly Value[]): number =>
  RECORD + qualified(fun) + array(args, sizeOfValue)
export const sizeOfCapabilityGuard = (name: string, args: readonly Value[], pact: string | null): number =>
  RECORD + qualified(name) + array(args, sizeOfValue) + maybe(pact, text)

function guardSize(g: Guard): number {
  switch (g.g) {
    case 'keyset':
      return VARIANT + sizeOfKeyset(g.keys, g.pred)
    case 'keyset-ref':
      return VARIANT + keysetName(g.name)
    case 'user':
      return VARIANT + sizeOfUserGuard(g.fun, g.args)
    case 'capability':
      return VARIANT + sizeOfCapabilityGuard(g.name, g.args, g.pact)
    case 'module':
      return VARIANT + RECORD + moduleName(g.module) + text(g.name)
    case 'pact':
      return VARIANT + RECORD + text(g.pact) + text(g.name)
  }
}

function tableSize({ module, name, hash: h, schema }: Table): number {
  return RECORD + RECORD + text(name) + moduleName(module) + hash(h) + schemaSize(schema)
}

/** Size of a literal without that of the value around it. */
function literalSize(value: Value): number {
  switch (value.v) {
    case 'string':
      return VARIANT + text(value.s)
    case 'integer':
      return VARIANT + sizeOfInteger(value.n)
    case 'decimal':
      return VARIANT + RECORD + 1 + sizeOfInteger(value.d.m)
    case 'bool':
      return VARIANT + 1
    default:
      return VARIANT
  }
}

export function sizeOfValue(value: Value): number {
  switch (value.v) {
    case 'list':
      return VARIANT + array(value.items, sizeOfValue)
    case 'object':
      return VARIANT + sizeOfFields(value.fields)
    case 'guard':
      return VARIANT + guardSize(value.g)
    case 'modref':
      return VARIANT + RECORD + moduleName(value.module) + array(value.faces, moduleName)
    case 'token':
      return VARIANT + RECORD + fqnSize(value.fqn) + array(value.args, sizeOfValue)
    case 'table':
      return VARIANT + tableSize(value)
    case 'time':
      return VARIANT + 8
    default:
      return VARIANT + literalSize(value)
  }
}

export const sizeOfFields = (fields: ReadonlyMap<string, Value>): number => mapOf(fields, sizeOfValue)

export const sizeOfNamespace = ({ name, user, admin }: Namespace): number =>
  RECORD + text(name) + guardSize(user) + guardSize(admin)

const yieldSize = ({ data }: Yield): number => RECORD + sizeOfFields(data) + maybe(null, () => 0) + maybe(null, () => 0)

export function sizeOfPact({ yielded, id, name, args, nested }: PactExec, isNested = false): number {
  const continuation = RECORD + qualified(name) + array(args, sizeOfValue)
  const own = RECORD + INT + maybe(yielded, yieldSize) + INT + text(id) + continuation
  return own + (isNested ? 0 : 1) + mapOf(nested, (each) => sizeOfPact(each, true))
}

/** Sizes of code. A place counts as nothing before a module is stored, and as a line afterwards. */
export class CodeSizes {
  readonly #place: number

  constructor(place: 'none' | 'line') {
    this.#place = place === 'line' ? INT : 0
  }

  moduleData({ module, deps }: ModuleData): number {
    const each = array(deps.values(), ({ fqn, def }) => RECORD + fqnSize(fqn) + this.#def(def))
    return VARIANT + this.module(module) + each
  }

  module(module: Module | Face): number {
    return module.is === 'module' ? this.#module(module) : this.#face(module)
  }

  #module({ name, governance, defs, imports, faces, hash: h, txHash }: Module): number {
    const gov = 'keyset' in governance ? keysetName(governance.keyset) : VARIANT + fqnSize(governance.capability)
    const members = array(defs, (def) => this.#def(def)) + array([], () => 0) + array(imports, importSize)
    const frame = RECORD + moduleName(name) + VARIANT + gov + members + array(faces, moduleName)
    return frame + hash(h) + hash(txHash) + this.#place
  }

  #face({ name, defs, imports, hash: h, txHash }: Face): number {
    const members = array(defs, (def) => this.#faceDef(def)) + array(imports, importSize)
    return RECORD + moduleName(name) + members + hash(h) + hash(txHash) + this.#place
  }

  #def(def: Def): number {
    return VARIANT + RECORD + this.#inside(def) + this.#place
  }

  #inside(def: Def): number {
    switch (def.d) {
      case 'defun':
        return this.#signature(def) + this.#term(def.term)
      case 'defcap':
        return this.#signature(def) + this.#term(def.term) + metaSize(def.meta)
      case 'defpact': {
        const step = ({ run, rollback }: (typeof def.steps)[number]) =>
          VARIANT + this.#term(run) + (rollback === null ? 0 : this.#term(rollback))
        return this.#signature(def) + array(def.steps, step)
      }
      case 'defconst':
        return this.#constant(def)
      case 'defschema':
        return text(def.name) + mapOf(def.fields, typeSize)
      case 'deftable':
        return text(def.name) + VARIANT + schemaSize(def.schema)
    }
  }

  #faceDef(def: FaceDef): number {
    const inside = (): number => {
      switch (def.d) {
        case 'defconst':
        case 'defschema':
          return this.#inside(def)
        case 'face-defcap':
          return this.#signature(def) + metaSize(def.meta)
        default:
          return this.#signature(def)
      }
    }
    return VARIANT + RECORD + inside() + this.#place
  }

  #constant({ spec, value }: Extract<Def, { readonly d: 'defconst' }>): number {
    return this.#arg(spec) + VARIANT + ('term' in value ? this.#term(value.term) : sizeOfValue(value.value))
  }

  #signature({ spec, args }: { readonly spec: Arg<Ty>; readonly args: readonly Arg<Ty>[] }): number {
    return this.#arg(spec) + array(args, (arg) => this.#arg(arg))
  }

  #arg({ n, ty }: Arg<Ty>): number {
    return RECORD + text(n) + maybe(ty, typeSize) + this.#place
  }

  #term(term: Core): number {
    return VARIANT + this.#partsOf(term) + this.#place
  }

  #partsOf(term: Core): number {
    switch (term.k) {
      case 'var':
        return nameSize(term.name)
      case 'lam':
        return array(term.args, (arg) => this.#arg(arg)) + this.#term(term.body)
      case 'let':
        return this.#arg(term.arg) + this.#term(term.e1) + this.#term(term.e2)
      case 'app':
        return this.#term(term.fn) + array(term.args, (arg) => this.#term(arg))
      case 'seq':
        return this.#term(term.e1) + this.#term(term.e2)
      case 'nullary':
        return this.#term(term.body)
      case 'special':
        return VARIANT + sum(term.terms, (each) => this.#term(each))
      case 'native':
        return 2
      case 'constant':
        return literalSize(term.value)
      case 'list':
        return array(term.items, (item) => this.#term(item))
      case 'object':
        return array(term.fields, ([field, value]) => RECORD + text(field) + this.#term(value))
    }
  }
}

function importSize({ module, names }: Import): number {
  return RECORD + moduleName(module) + maybe(null, () => 0) + maybe(names, (each) => array(each, text))
}

/** Managers are names of definitions, and bare names in interfaces. */
function metaSize(meta: ManagedMeta | FaceMeta): number {
  if (meta.meta === 'auto') return VARIANT + VARIANT
  if (!('index' in meta)) return VARIANT
  const { param, manager } = meta
  const managerSize = typeof manager === 'string' ? text(manager) : VARIANT + fqnSize(manager)
  return VARIANT + VARIANT + (RECORD + INT + text(param)) + managerSize
}

function nameSize({ n, kind }: Name): number {
  const inside = (): number => {
    switch (kind.k) {
      case 'bound':
        return WORD64
      case 'top':
        return moduleName(kind.m) + hash(kind.h)
      case 'modref':
        return moduleName(kind.m) + array(kind.faces, moduleName)
      case 'dynamic':
        return RECORD + text(kind.member) + WORD64
    }
  }
  return RECORD + text(n) + VARIANT + inside()
}
