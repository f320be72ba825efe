/** Resolves terms and definitions (Pact/Core/IR/Desugar.hs: renameTerm, renameDef, renameModule, renameInterface). */
import type { Def as DefTree, Expr, FaceDef as FaceTree, Form, Meta, Param, Type } from '../program/tree.ts'
import { argOf, desugar, type Parsed, sequence } from './desugar.ts'
import { namesIn } from './mentions.ts'
import { type Bind, kindOf, type Names, type Scope } from './names.ts'
import { orderOf } from './order.ts'
import { CodeSizes } from './sizes.ts'
import { Fatal, type State } from './state.ts'
import {
  type Arg,
  type Core,
  type Def,
  type Face,
  type FaceDef,
  type FaceMeta,
  type ManagedMeta,
  type Module,
  nameOfDef,
  type PactStep,
  PLACEHOLDER,
  type Schema,
  sortedMap,
  type Ty,
} from './terms.ts'

/** Milligas a byte of a module as resolved (PROTOCOL.md E.5; TableGasModel.hs, MOpDesugarModule). */
const RESOLVE_COST = 400

export function resolveExpr(names: Names, expr: Expr): Core {
  return resolveTerm(names, names.scope(), desugar(expr))
}

function resolveTerm(names: Names, scope: Scope, term: Parsed): Core {
  const inside = (each: Parsed): Core => resolveTerm(names, scope, each)
  const { i } = term
  switch (term.k) {
    case 'var': {
      const { name, kind } = names.resolve(scope, term.name)
      if (kind?.d === 'defschema') throw new Fatal(`a schema is not a value: ${term.name}`)
      return { k: 'var', name, i }
    }
    case 'lam': {
      const body = resolveTerm(names, withParams(scope, term.args), term.body)
      return { k: 'lam', args: term.args.map((arg) => resolveArg(names, scope, arg)), body, i }
    }
    case 'let': {
      const arg = resolveArg(names, scope, term.arg)
      const e1 = inside(term.e1)
      return { k: 'let', arg, e1, e2: resolveTerm(names, withParams(scope, [term.arg]), term.e2), i }
    }
    case 'app': {
      const fn = inside(term.fn)
      return { k: 'app', fn, args: term.args.map(inside), i }
    }
    case 'seq': {
      const e1 = inside(term.e1)
      return { k: 'seq', e1, e2: inside(term.e2), i }
    }
    case 'nullary':
      return { k: 'nullary', body: inside(term.body), i }
    case 'special':
      if (term.form === 'with-capability' && scope.within === 'defcap') throw new Fatal('with-capability in a defcap')
      return { k: 'special', form: term.form, terms: term.terms.map(inside), i }
    case 'list':
      return { k: 'list', items: term.items.map(inside), i }
    case 'object':
      return { k: 'object', fields: term.fields.map(([field, value]) => [field, inside(value)] as const), i }
    default:
      return term
  }
}

function resolveArg(names: Names, scope: Scope, { n, ty, i }: Arg<Type>): Arg<Ty> {
  return { n, ty: ty === null ? null : names.type(scope, ty), i }
}

function withParams(scope: Scope, args: readonly Arg<Type>[]): Scope {
  const binds = new Map(scope.binds)
  args.forEach(({ n }, index) => {
    binds.set(n, { bound: scope.depth + index })
  })
  return { ...scope, binds, depth: scope.depth + args.length }
}

type Tree<D extends string> = Extract<DefTree | FaceTree, { readonly d: D }>
interface SignatureTree {
  readonly name: string
  readonly nameLine?: number
  readonly line?: number
  readonly result: Type | null
  readonly params: readonly Param[]
}

class Definitions {
  readonly #names: Names
  readonly #scope: Scope

  constructor(names: Names, scope: Scope) {
    this.#names = names
    this.#scope = scope
  }

  def(tree: DefTree): Def {
    switch (tree.d) {
      case 'defun':
        return this.#defun(tree)
      case 'defcap':
        return this.#defcap(tree)
      case 'defpact':
        return this.#defpact(tree)
      case 'deftable': {
        const schema: Schema = this.#names.schema(this.#scope, tree.schema)
        return { d: 'deftable', name: tree.name, schema, i: tree.line ?? 0 }
      }
      default:
        return this.plain(tree)
    }
  }

  plain(tree: Tree<'defconst'> | Tree<'defschema'>): Extract<Def, { readonly d: 'defconst' | 'defschema' }> {
    const i = tree.line ?? 0
    if (tree.d === 'defschema') {
      const fields = sortedMap(tree.fields).entries()
      const types = [...fields].map(
        ([field, type]) => [field, type === null ? { t: 'any' } : this.#names.type(this.#scope, type)] as const,
      )
      return { d: 'defschema', name: tree.name, fields: new Map<string, Ty>(types as [string, Ty][]), i }
    }
    const ty = tree.type === null ? null : this.#names.type(this.#scope, tree.type)
    const term = resolveTerm(this.#names, { ...this.#scope, within: 'defconst' }, desugar(tree.value))
    return { d: 'defconst', spec: { n: tree.name, ty, i: tree.nameLine ?? 0 }, value: { term }, i }
  }

  face(tree: FaceTree): FaceDef {
    switch (tree.d) {
      case 'defconst':
      case 'defschema':
        return this.plain(tree)
      case 'defcap': {
        const signature = this.#argsThenResult(tree)
        return { d: 'face-defcap', ...signature, meta: faceMeta(tree) }
      }
      default:
        return { d: tree.d === 'defun' ? 'face-defun' : 'face-defpact', ...this.#argsThenResult(tree) }
    }
  }

  #defun(tree: Tree<'defun'> & { readonly body: Expr[] }): Def {
    const i = tree.line ?? 0
    const signature = this.#argsThenResult(tree)
    const body = sequence(tree.body, i)
    const lambda: Parsed =
      tree.params.length === 0 ? { k: 'nullary', body, i } : { k: 'lam', args: tree.params.map(argOf), body, i }
    return { d: 'defun', ...signature, term: resolveTerm(this.#names, { ...this.#scope, within: 'defun' }, lambda) }
  }

  #defcap(tree: Tree<'defcap'> & { readonly body: Expr[] }): Def {
    const meta = this.#meta(tree.meta, tree.params)
    const signature = this.#argsThenResult(tree)
    const inner = { ...withParams(this.#scope, tree.params.map(argOf)), within: 'defcap' as const }
    return {
      d: 'defcap',
      ...signature,
      term: resolveTerm(this.#names, inner, sequence(tree.body, tree.line ?? 0)),
      meta,
    }
  }

  #defpact(tree: Extract<DefTree, { readonly d: 'defpact' }>): Def {
    const signature = this.#argsThenResult(tree)
    const inner = { ...withParams(this.#scope, tree.params.map(argOf)), within: 'defpact' as const }
    const steps = tree.steps.map(({ run, rollback }): PactStep => {
      const term = resolveTerm(this.#names, inner, desugar(run))
      return { run: term, rollback: rollback === null ? null : resolveTerm(this.#names, inner, desugar(rollback)) }
    })
    return { d: 'defpact', ...signature, steps }
  }

  /** Types of the parameters are resolved first, then that of the result. */
  #argsThenResult({ name, nameLine = 0, line = 0, result, params }: SignatureTree) {
    const args = params.map((param) => resolveArg(this.#names, this.#scope, argOf(param)))
    const ty = result === null ? null : this.#names.type(this.#scope, result)
    return { spec: { n: name, ty, i: nameLine }, args, i: line }
  }

  #meta(meta: Meta, params: readonly Param[]): ManagedMeta {
    if (meta === null) return { meta: 'none' }
    if (meta.meta !== 'managed-by') return { meta: meta.meta === 'event' ? 'event' : 'auto' }
    const { name, kind } = this.#names.resolve(this.#scope, meta.manager)
    if (name.kind.k !== 'top' || kind?.d !== 'defun') throw new Fatal(`invalid manager ${meta.manager}`)
    const manager = { m: name.kind.m, n: name.n, h: name.kind.h }
    return { meta: 'by', index: params.findIndex((param) => param.name === meta.param), param: meta.param, manager }
  }
}

function faceMeta({ meta, params }: { readonly meta: Meta; readonly params: readonly Param[] }): FaceMeta {
  if (meta === null) return { meta: 'none' }
  if (meta.meta !== 'managed-by') return { meta: meta.meta === 'event' ? 'event' : 'auto' }
  const index = params.findIndex((param) => param.name === meta.param)
  return { meta: 'by', index, param: meta.param, manager: meta.manager }
}

const mangled = ({ namespace }: State, name: string): string =>
  namespace === null ? name : `${namespace.name}.${name}`

export function resolveModule(names: Names, tree: Extract<Form, { readonly f: 'module' }>): Module {
  const { state } = names
  const [i, hash] = [tree.line ?? 0, PLACEHOLDER.module]
  const name = mangled(state, tree.name)
  const { governance } = tree
  const gov = 'keyset' in governance ? governance : { capability: { m: name, n: governance.capability, h: hash } }
  const order = orderOf(tree.defs.map((def) => ({ key: def.name, names: namesIn(name, tree.defs, def) })))
  let binds = names.scope().binds
  for (const use of tree.uses) binds = names.import(binds, use.module, use.names)
  const faces = tree.implemented.map((each) => names.interfaceName({ ...names.scope(), binds }, each))
  const current = { name, faces, is: 'module' as const }
  const members = new Map<string, Bind>()
  const defs: Def[] = []
  for (const place of order) {
    const scope: Scope = { binds, members: new Map(members), depth: 0, current, within: null }
    const def = new Definitions(names, scope).def(tree.defs[place])
    const bind = { m: name, h: hash, kind: kindOf(name, def) }
    binds = new Map([...binds, [nameOfDef(def), bind]])
    members.set(nameOfDef(def), bind)
    defs.push(def)
  }
  for (const face of faces) checkImplemented(names, face)
  const imports = tree.uses.map((use) => ({ module: use.module, names: use.names }))
  const txHash = state.message.hash
  const module: Module = { is: 'module', name, governance: gov, defs, imports, faces, hash, txHash, i }
  state.charge(RESOLVE_COST * new CodeSizes('none').module(module))
  return module
}

/** Looks the interface up. The programs of the generator implement their interfaces fully. */
function checkImplemented(names: Names, face: string): void {
  if (names.moduleData(face).module.is !== 'interface') throw new Fatal(`no such interface ${face}`)
}

export function resolveInterface(names: Names, tree: Extract<Form, { readonly f: 'interface' }>): Face {
  const { state } = names
  const [i, hash] = [tree.line ?? 0, PLACEHOLDER.interface]
  const name = mangled(state, tree.name)
  const order = orderOf(tree.defs.map((def) => ({ key: def.name, names: namesIn(name, tree.defs, def) })))
  let binds = names.scope().binds
  for (const use of tree.uses) binds = names.import(binds, use.module, use.names)
  const current = { name, faces: [], is: 'interface' as const }
  const defs: FaceDef[] = []
  for (const place of order) {
    const scope: Scope = { binds, members: new Map(), depth: 0, current, within: null }
    const def = new Definitions(names, scope).face(tree.defs[place])
    if (def.d === 'defconst' || def.d === 'defschema') {
      binds = new Map([...binds, [nameOfDef(def), { m: name, h: hash, kind: kindOf(name, def) }]])
    }
    defs.push(def)
  }
  const imports = tree.uses.map((use) => ({ module: use.module, names: use.names }))
  const face: Face = { is: 'interface', name, defs, imports, hash, txHash: state.message.hash, i }
  state.charge(RESOLVE_COST * new CodeSizes('none').module(face))
  return face
}
