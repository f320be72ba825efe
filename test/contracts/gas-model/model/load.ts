/**
 * Loads modules and interfaces: governance, resolution, constants, hash, dependencies, storing
 * (Pact/Core/Compile.hs, IR/ConstEval.hs and IR/ModuleHashing.hs; PROTOCOL.md E.5).
 */
import type { Form } from '../program/tree.ts'
import { dependenciesOf } from './dependencies.ts'
import { hashOfModule } from './encode.ts'
import { type Env, START } from './env.ts'
import { acquireAdmin, enforceGuard, enforceNamedKeyset, withMagic } from './guards.ts'
import { Machine } from './machine.ts'
import { Names } from './names.ts'
import { resolveExpr, resolveInterface, resolveModule } from './resolve.ts'
import { CodeSizes } from './sizes.ts'
import { Fatal, loadedOf, type State } from './state.ts'
import {
  type Core,
  compareFqns,
  type Def,
  type Defconst,
  type Face,
  type Fqn,
  keyOf,
  type Loaded,
  type Module,
  nameOfDef,
  type PactStep,
  PLACEHOLDER,
  str,
  type Value,
} from './terms.ts'

const HASH_COST = 100
const WRITE_COST = 200

export const topEnv = (step: Env['step'] = null): Env => ({ ...START, purity: 'impure', step })

/** Runs a form at the top level (interpretTopLevel). */
export function runForm(state: State, form: Form): Value {
  const machine = new Machine(state)
  state.note(`top level: ${form.f}`)
  switch (form.f) {
    case 'expr': {
      const term = resolveExpr(new Names(state), form.expr)
      return machine.value(topEnv(), term)
    }
    case 'use':
      new Names(state).import(new Map(), form.module, form.names)
      return str(`Loaded imports from ${form.module}`)
    case 'module':
      return loadModule(machine, form)
    case 'interface':
      return loadInterface(machine, form)
  }
}

const mangled = ({ namespace }: State, name: string): string =>
  namespace === null ? name : `${namespace.name}.${name}`

function loadModule(machine: Machine, form: Extract<Form, { readonly f: 'module' }>): Value {
  const { state } = machine
  enforceGovernance(machine, mangled(state, form.name))
  const resolved = resolveModule(new Names(state), form)
  const evaluated = { ...resolved, defs: evaluateConstants(machine, resolved, resolved.defs) }
  const module = hashed(state, evaluated, withHash)
  install(machine, module)
  return str(`Loaded module ${module.name}, hash ${module.hash}`)
}

/** The old version agrees. Its look-up is forgotten afterwards, so that names find it again (evalModuleGovernance). */
function enforceGovernance(machine: Machine, name: string): void {
  const { state } = machine
  const before = state.names()
  const old = state.lookupModule(name, 'governance of a replaced module')
  if (old === null) {
    enforceNamespace(machine)
    return
  }
  const { governance } = old
  if ('keyset' in governance) {
    const { keyset } = governance
    withMagic(state, 'MODULE_KEYSET', name, () => {
      // As code would: (enforce-guard (keyset-ref-guard "...")), whose natives and text are paid.
      state.charge(2000 + 2000 + [...keyset].length * 5 + 1)
      enforceGuard(machine, topEnv(), { g: 'keyset-ref', name: keyset })
    })
  } else if (!state.admin.has(name)) {
    // The capability is found by its name (evalWithinCap, getDefCapQN).
    acquireAdmin(machine, topEnv(), old)
  }
  Object.assign(state, before)
}

function enforceNamespace(machine: Machine): void {
  const { namespace } = machine.state
  if (namespace === null) return
  withMagic(machine.state, 'NAMESPACE', namespace.name, () => enforceGuard(machine, topEnv(), namespace.user))
}

/** Constants see a module without its hash. Modules that they loaded are forgotten (ConstEval.hs). */
function evaluateConstants<D extends Def | Face['defs'][number]>(
  machine: Machine,
  module: Module | Face,
  defs: readonly D[],
): D[] {
  const { state } = machine
  const before = state.names()
  const evaluated = defs.map((def): D => {
    const after = def.d === 'defconst' ? evaluateConstant(machine, module, def) : def
    // In interfaces other constants see one as it was before its evaluation.
    if (module.is === 'module' || def.d === 'defconst') {
      const fqn = { m: module.name, n: nameOfDef(after), h: module.hash }
      const seen = module.is === 'module' ? after : def
      state.all = new Map([...state.all, [keyOf(fqn), { fqn, def: seen as Def }]])
    }
    return after as D
  })
  Object.assign(state, before)
  return evaluated
}

function evaluateConstant(machine: Machine, module: Module | Face, def: Defconst): Defconst {
  if (!('term' in def.value)) return def
  const env: Env = { ...topEnv(), purity: 'sys-only' }
  const value = machine.value(env, def.value.term)
  if (module.is === 'module') machine.check(value, def.spec.ty)
  return { ...def, value: { value } }
}

/** Charges for the hash, and puts it in place of the placeholder. */
function hashed<M extends Module | Face>(state: State, module: M, replace: (module: M, hash: string) => M): M {
  state.charge(HASH_COST * new CodeSizes('none').module(module))
  return replace(module, hashOfModule(module))
}

function withHash(module: Module, hash: string): Module {
  const replace = new Replacement(module.name, hash)
  const { governance } = module
  const gov = 'keyset' in governance ? governance : { capability: replace.fqn(governance.capability) }
  return { ...module, governance: gov, defs: module.defs.map((def) => replace.def(def)), hash }
}

function faceWithHash(face: Face, hash: string): Face {
  const replace = new Replacement(face.name, hash)
  return { ...face, defs: face.defs.map((def) => (def.d === 'defconst' ? replace.constant(def) : def)), hash }
}

class Replacement {
  readonly #module: string
  readonly #hash: string

  constructor(module: string, hash: string) {
    this.#module = module
    this.#hash = hash
  }

  fqn(fqn: Fqn): Fqn {
    return fqn.m === this.#module ? { ...fqn, h: this.#hash } : fqn
  }

  def(def: Def): Def {
    switch (def.d) {
      case 'defun':
        return { ...def, term: this.#term(def.term) }
      case 'defcap': {
        const { meta } = def
        const replaced = meta.meta === 'by' ? { ...meta, manager: this.fqn(meta.manager) } : meta
        return { ...def, term: this.#term(def.term), meta: replaced }
      }
      case 'defpact': {
        const step = ({ run, rollback }: PactStep): PactStep => ({
          run: this.#term(run),
          rollback: rollback === null ? null : this.#term(rollback),
        })
        return { ...def, steps: def.steps.map(step) }
      }
      case 'defconst':
        return this.constant(def)
      default:
        return def
    }
  }

  constant(def: Defconst): Defconst {
    return 'value' in def.value ? { ...def, value: { value: this.#value(def.value.value) } } : def
  }

  #value(value: Value): Value {
    switch (value.v) {
      case 'list':
        return { ...value, items: value.items.map((item) => this.#value(item)) }
      case 'object':
        return { ...value, fields: new Map([...value.fields].map(([field, each]) => [field, this.#value(each)])) }
      case 'token':
        return { ...value, fqn: this.fqn(value.fqn), args: value.args.map((arg) => this.#value(arg)) }
      case 'table':
        return value.module === this.#module ? { ...value, hash: this.#hash } : value
      default:
        return value
    }
  }

  #term(term: Core): Core {
    const inside = (each: Core): Core => this.#term(each)
    switch (term.k) {
      case 'var': {
        const { n, kind } = term.name
        if (kind.k !== 'top' || kind.m !== this.#module) return term
        return { ...term, name: { n, kind: { ...kind, h: this.#hash } } }
      }
      case 'lam':
      case 'nullary':
        return { ...term, body: inside(term.body) }
      case 'let':
      case 'seq':
        return { ...term, e1: inside(term.e1), e2: inside(term.e2) }
      case 'app':
        return { ...term, fn: inside(term.fn), args: term.args.map(inside) }
      case 'special':
        return { ...term, terms: term.terms.map(inside) }
      case 'list':
        return { ...term, items: term.items.map(inside) }
      case 'object':
        return { ...term, fields: term.fields.map(([field, value]) => [field, inside(value)] as const) }
      default:
        return term
    }
  }
}

/** The keyset of the new version agrees, and the module is stored (evalTopLevel). */
function install(machine: Machine, module: Module): void {
  const { state } = machine
  const { governance, name } = module
  if ('keyset' in governance) {
    const { keyset } = governance
    withMagic(state, 'MODULE_KEYSET', name, () => enforceNamedKeyset(machine, topEnv(), keyset))
  }
  state.all = new Map([...state.all, ...loadedOf(module)])
  const data = { module, deps: dependenciesOf(state, module) }
  state.charge(WRITE_COST * new CodeSizes('line').moduleData(data))
  state.db.modules.set(name, data)
  state.modules = new Map([...state.modules, [name, data]])
  state.toplevel = new Map([...state.toplevel, ...byName(loadedOf(module))])
  state.admin = new Set([...state.admin, name])
}

function byName(loaded: ReadonlyMap<string, Loaded>): (readonly [string, Loaded])[] {
  return [...loaded.values()].map((each) => [each.fqn.n, each])
}

/** An interface needs all definitions of the modules that it names. */
function loadInterface(machine: Machine, form: Extract<Form, { readonly f: 'interface' }>): Value {
  const { state } = machine
  if (state.lookupModuleData(mangled(state, form.name)) !== null) throw new Fatal('interfaces are not upgraded')
  enforceNamespace(machine)
  const names = new Names(state)
  const resolved = resolveInterface(names, form)
  if (resolved.hash !== PLACEHOLDER.interface) throw new Error('hash')
  const evaluated = { ...resolved, defs: evaluateConstants(machine, resolved, resolved.defs) }
  const face = hashed(state, evaluated, faceWithHash)
  const needed = [...state.all.values()].filter(({ fqn }) => names.dependencies.has(fqn.m))
  const deps = new Map(needed.sort((a, b) => compareFqns(a.fqn, b.fqn)).map((each) => [keyOf(each.fqn), each]))
  const data = { module: face, deps }
  state.charge(WRITE_COST * new CodeSizes('line').moduleData(data))
  state.db.modules.set(face.name, data)
  state.modules = new Map([...state.modules, [face.name, data]])
  state.all = new Map([...state.all, ...loadedOf(face)])
  state.toplevel = new Map([...state.toplevel, ...byName(loadedOf(face))])
  return str(`Loaded interface ${face.name}, hash ${face.hash}`)
}
