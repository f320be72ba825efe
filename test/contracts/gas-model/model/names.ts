/** Resolves names: bare ones, qualified ones, and members of module references (Pact/Core/IR/Desugar.hs, "Renaming"). */
import type { Type } from '../program/tree.ts'
import { Fatal, type State } from './state.ts'
import {
  compareModules,
  type Def,
  type Loaded,
  type ModuleData,
  type Name,
  nameOfDef,
  type Schema,
  splitModule,
  splitQualified,
  type Ty,
  visibleDefs,
} from './terms.ts'

/** A variable by its depth, or a definition with the hash of its module. */
export type Bind = { readonly bound: number } | { readonly m: string; readonly h: string; readonly kind: DefKind }

/** The kind of a definition, and the fields of a schema (Term.hs, defKind). */
export interface DefKind {
  readonly d: Def['d']
  readonly schema: Schema | null
}

export interface Current {
  readonly name: string
  readonly faces: readonly string[]
  readonly is: 'module' | 'interface'
}

export interface Scope {
  readonly binds: ReadonlyMap<string, Bind>
  /** Members of the current module that are resolved already. */
  readonly members: ReadonlyMap<string, Bind>
  readonly depth: number
  readonly current: Current | null
  readonly within: Def['d'] | null
}

export function kindOf(module: string, def: Def): DefKind {
  const schema = def.d === 'defschema' ? { name: `${module}.${def.name}`, fields: def.fields } : null
  return { d: def.d, schema }
}

export interface Resolved {
  readonly name: Name
  readonly kind: DefKind | null
}

export class Names {
  readonly state: State
  /** Modules that the resolved code depends on. */
  readonly dependencies = new Set<string>()

  constructor(state: State) {
    this.state = state
  }

  /** Scope of the top level: definitions that were loaded or imported (runRenamerT). */
  scope(): Scope {
    const binds = new Map([...this.state.toplevel].map(([name, loaded]) => [name, bindOf(loaded)]))
    return { binds, members: new Map(), depth: 0, current: null, within: null }
  }

  resolve(scope: Scope, name: string): Resolved {
    const dynamic = name.split('::')
    if (dynamic.length === 2) return { name: this.#dynamic(scope, dynamic[0], dynamic[1]), kind: null }
    return name.includes('.') ? this.#qualified(scope, name) : this.#bare(scope, name)
  }

  #dynamic({ binds, depth }: Scope, variable: string, member: string): Name {
    const bind = binds.get(variable)
    if (bind === undefined || !('bound' in bind)) throw new Fatal(`unbound ${variable}`)
    return { n: variable, kind: { k: 'dynamic', member, index: depth - bind.bound - 1 } }
  }

  #bare(scope: Scope, name: string): Resolved {
    const bind = scope.binds.get(name)
    if (bind === undefined) return this.#topOrReference(scope, name)
    if ('bound' in bind)
      return { name: { n: name, kind: { k: 'bound', index: scope.depth - bind.bound - 1 } }, kind: null }
    const { m, h, kind } = bind
    if (scope.current !== null && scope.current.name !== m) this.dependencies.add(m)
    return { name: { n: name, kind: { k: 'top', m, h } }, kind }
  }

  #topOrReference(scope: Scope, name: string): Resolved {
    const loaded = this.state.toplevel.get(name)
    if (loaded !== undefined) {
      const { m, h } = loaded.fqn
      this.dependencies.add(m)
      return { name: { n: name, kind: { k: 'top', m, h } }, kind: kindOf(m, loaded.def) }
    }
    const { name: module, faces } = this.#moduleName(scope, name)
    return { name: { n: name, kind: { k: 'modref', m: module, faces } }, kind: null }
  }

  /** A module that a name refers to (resolveModuleName). */
  #moduleName({ current }: Scope, name: string): { readonly name: string; readonly faces: readonly string[] } {
    const { state } = this
    const referenceTo = ({ module }: ModuleData) => {
      if (module.is !== 'module') throw new Fatal(`invalid module reference ${name}`)
      return { name: module.name, faces: module.faces }
    }
    if (current?.is !== 'module') return referenceTo(this.moduleData(name))
    if (current.name === name) return current
    const data = state.lookupModuleData(name)
    if (data !== null) return referenceTo(data)
    if (splitModule(name).namespace !== null || state.namespace === null) throw new Fatal(`no such module ${name}`)
    const inNamespace = `${state.namespace.name}.${name}`
    if (inNamespace === current.name) return current
    return referenceTo(state.getModuleData(inNamespace))
  }

  /** An interface that a type or `implements` names (resolveInterfaceName). */
  interfaceName({ current }: Scope, name: string): string {
    const { state } = this
    const nameOfFace = ({ module }: ModuleData, result: string): string => {
      if (module.is !== 'interface') throw new Fatal(`invalid module reference ${name}`)
      return result
    }
    if (current?.is !== 'interface') {
      const data = this.moduleData(name)
      return nameOfFace(data, data.module.name)
    }
    if (current.name === name) return name
    const data = state.lookupModuleData(name)
    if (data !== null) return nameOfFace(data, name)
    if (splitModule(name).namespace !== null || state.namespace === null) throw new Fatal(`no such module ${name}`)
    const inNamespace = `${state.namespace.name}.${name}`
    if (inNamespace === current.name) return inNamespace
    const found = state.getModuleData(inNamespace)
    return nameOfFace(found, found.module.name)
  }

  /** A module by its name, or in the namespace of the transaction (resolveModuleData). */
  moduleData(name: string): ModuleData {
    const { state } = this
    const data = state.lookupModuleData(name)
    if (data !== null) return data
    if (splitModule(name).namespace !== null || state.namespace === null) throw new Fatal(`no such module ${name}`)
    return state.getModuleData(`${state.namespace.name}.${name}`)
  }

  /** A member of a module, of one in the namespace of the transaction, or a module of a namespace (resolveQualified). */
  #qualified(scope: Scope, name: string): Resolved {
    const { module, member } = splitQualified(name)
    const found =
      this.#memberOf(scope, module, member) ??
      this.#referenceIn(module, member) ??
      (this.state.namespace === null
        ? null
        : this.#memberOf(scope, `${this.state.namespace.name}.${splitModule(module).bare}`, member))
    if (found === null) throw new Fatal(`no such member ${name}`)
    return found
  }

  #memberOf({ current, members }: Scope, module: string, member: string): Resolved | null {
    const own = current?.name === module ? members.get(member) : undefined
    if (own !== undefined && !('bound' in own)) {
      return { name: { n: member, kind: { k: 'top', m: own.m, h: own.h } }, kind: own.kind }
    }
    const data = this.state.lookupModuleData(module)
    if (data === null) return null
    const def = visibleDefs(data.module).find((each) => nameOfDef(each) === member)
    if (def === undefined) return null
    this.dependencies.add(module)
    return { name: { n: member, kind: { k: 'top', m: module, h: data.module.hash } }, kind: kindOf(module, def) }
  }

  /** `ns.module` as a reference: the module alone is looked up (modRefLookup). */
  #referenceIn(namespace: string, bare: string): Resolved | null {
    if (splitModule(namespace).namespace !== null) throw new Fatal(`no such member ${namespace}.${bare}`)
    const name = `${namespace}.${bare}`
    const module = this.state.lookupModule(name, 'reference ns.module')
    if (module === null) return null
    return { name: { n: bare, kind: { k: 'modref', m: name, faces: module.faces } }, kind: null }
  }

  type(scope: Scope, type: Type): Ty {
    switch (type.t) {
      case 'list-of':
        return { t: 'list', of: this.type(scope, type.of) }
      case 'list':
        return { t: 'any-list' }
      case 'object':
        return { t: 'any-object' }
      case 'module-of': {
        const faces = type.interfaces.map((each) => this.interfaceName(scope, each))
        return { t: 'modref', faces: [...new Set(faces)].sort(compareModules) }
      }
      case 'object-of':
      case 'table-of':
        return { t: type.t === 'object-of' ? 'object' : 'table', schema: this.schema(scope, type.schema) }
      case 'keyset':
        return { t: 'prim', p: 'guard' }
      default:
        return { t: 'prim', p: type.t }
    }
  }

  schema(scope: Scope, name: string): Schema {
    const { schema } = this.resolve(scope, name).kind ?? { schema: null }
    if (schema === null) throw new Fatal(`not a schema: ${name}`)
    return schema
  }

  /** Imports all or some members; the names stay until the transaction ends (handleImport, loadTopLevelMembers). */
  import(binds: ReadonlyMap<string, Bind>, module: string, names: readonly string[] | null): Map<string, Bind> {
    const data = this.moduleData(module)
    const { name, hash } = data.module
    const members = new Map<string, Loaded>(
      visibleDefs(data.module).map((def) => [nameOfDef(def), { fqn: { m: name, n: nameOfDef(def), h: hash }, def }]),
    )
    for (const each of names ?? []) if (!members.has(each)) throw new Fatal(`invalid import ${each}`)
    const chosen = [...members].filter(([member]) => names === null || names.includes(member))
    this.state.toplevel = new Map([...chosen, ...this.state.toplevel])
    return new Map([...binds, ...chosen.map(([member, loaded]) => [member, bindOf(loaded)] as const)])
  }
}

export function bindOf({ fqn: { m, h }, def }: Loaded): Bind {
  return { m, h, kind: kindOf(m, def) }
}
