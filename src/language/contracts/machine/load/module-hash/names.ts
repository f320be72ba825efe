/** Resolves the names in a module as the network does when it loads the module. */
import { evalError, type TextPlace } from '../../../errors.ts'
import { Const, type Definition, type Module, ownerOf, Schema } from '../../ast.ts'
import type { ExpandingRun } from '../../expand/expander.ts'
import type { ResolvedBefore } from '../../expand/resolver.ts'
import { storedModule } from '../../loaded-modules.ts'
import type { ModuleLookup } from '../../module-lookup.ts'
import { type Arg, type LookedUpModule, moduleNameOf, type Reference } from './terms.ts'

interface BoundVariable {
  /** Number of variables bound around this one. */
  readonly depth: number
  /** False for arguments of capabilities and pacts: their names still count as uses of a definition. */
  readonly shadows: boolean
}

/** A name as used: the member that it calls itself, and what it refers to. */
export interface ResolvedName {
  readonly name: string
  readonly to: Reference
}

/** Members that the text of a module defines. */
export interface OwnMembers {
  readonly own: ReadonlySet<string>
  /** Null if code may name every member with its module. */
  readonly order: ResolvedBefore | null
}

export class NameResolver {
  readonly #run: ExpandingRun
  readonly #module: Module
  /** Names that the text of the module defines. */
  readonly #own: ReadonlySet<string>
  readonly #order: ResolvedBefore | null
  readonly #bound = new Map<string, BoundVariable[]>()
  #depth = 0
  /** Other modules whose members are used. */
  readonly referenced = new Set<Module>()
  /** Own names used by the definition that is being resolved. */
  uses = new Set<string>()
  /** Other modules that are looked up for that definition. */
  lookups: LookedUpModule[] = []

  constructor(run: ExpandingRun, module: Module, { own, order }: OwnMembers) {
    this.#run = run
    this.#module = module
    this.#own = own
    this.#order = order
  }

  /** Runs `body` with variables bound, innermost last. */
  withBound<T>(args: readonly Pick<Arg, 'name'>[], shadows: boolean, body: () => T): T {
    for (const { name } of args) this.bind(name, shadows)
    const result = body()
    for (const { name } of [...args].reverse()) this.unbind(name)
    return result
  }

  bind(name: string, shadows = true): void {
    const stack = this.#bound.get(name)
    const bound = { depth: this.#depth++, shadows }
    if (stack === undefined) this.#bound.set(name, [bound])
    else stack.push(bound)
  }

  unbind(name: string): void {
    this.#bound.get(name)?.pop()
    this.#depth--
  }

  /** Notes that a member of a module is used. */
  noteModule(module: Module): void {
    if (module !== this.#module) this.referenced.add(module)
  }

  /** Notes the names in a type: uses of schemas, and look-ups of their modules. */
  noteSchema(written: string): void {
    this.noteUse(written)
    if (written.includes('.')) this.#resolveQualified(written.split('.'))
  }

  /** Notes the look-up of a module by its name, or by its name in the current namespace. */
  noteModuleName(written: string): void {
    if (this.#find(written, 'name') !== undefined) return
    const full = this.#inNamespace(written)
    if (full !== null) this.#find(full, 'name')
  }

  /** Notes a use of a definition of this module, for the order of definitions. */
  noteUse(written: string): void {
    const dot = written.lastIndexOf('.')
    if (dot > 0 && written.slice(0, dot) !== this.#module.name) return
    const name = written.slice(dot + 1)
    if (this.#own.has(name) && this.#bound.get(name)?.at(-1)?.shadows !== true) this.uses.add(name)
  }

  /**
   * Resolves `name`, `module.name` or `namespace.module.name`.
   * @throws EvalError if there is nothing of this name
   */
  resolve(written: string, place: TextPlace): ResolvedName {
    this.noteUse(written)
    const parts = written.split('.')
    const name = parts[parts.length - 1]
    const to = parts.length === 1 ? this.#resolveBare(name) : this.#resolveQualified(parts)
    if (to?.ref === 'member') this.noteModule(to.module)
    if (to !== null) return { name, to }
    if (parts.length === 1) throw evalError(`Unbound variable: ${written}`, place)
    throw evalError(`Module ${parts.slice(0, -1).join('.')} has no such member: ${name}`, place)
  }

  /** Resolves `variable::member`. @throws EvalError if the variable is not bound */
  dynamic(variable: string, member: string, place: TextPlace): ResolvedName {
    const index = this.#indexOf(variable)
    if (index === null) throw evalError(`Invalid dynamic call: ${variable} is not a bound variable`, place)
    return { name: variable, to: { ref: 'dynamic', member, index } }
  }

  /** Position of a variable, counted from the innermost, or null. */
  #indexOf(name: string): number | null {
    const bound = this.#bound.get(name)?.at(-1)
    return bound === undefined ? null : this.#depth - bound.depth - 1
  }

  #resolveBare(name: string): Reference | null {
    const index = this.#indexOf(name)
    if (index !== null) return { ref: 'bound', index }
    if (this.#own.has(name)) return { ref: 'member', module: this.#module }
    const { imports, definitions } = this.#module
    // The last ones are constants of implemented interfaces.
    const other = imports.get(name) ?? this.#run.program.imports.get(name) ?? definitions.get(name)
    if (other !== undefined) return { ref: 'member', module: ownerOf(other) }
    return this.#moduleRef(name, 'name') ?? this.#moduleRef(this.#inNamespace(name), 'name')
  }

  #resolveQualified(parts: readonly string[]): Reference | null {
    const name = parts[parts.length - 1]
    const module = parts.slice(0, -1).join('.')
    const found = this.#findMember(module, name)
    if (found !== null || parts.length > 2) return found
    return this.#moduleRef(`${module}.${name}`, 'running') ?? this.#findMember(this.#inNamespace(module), name)
  }

  #inNamespace(name: string): string | null {
    const namespace = this.#run.program.namespace ?? this.#module.namespace
    return namespace === null ? null : `${namespace}.${name}`
  }

  #findMember(module: string | null, name: string): Reference | null {
    if (module === null) return null
    const isOwn = module === this.#module.name && this.#own.has(name) && this.#order?.has(name) !== false
    if (isOwn) return { ref: 'member', module: this.#module }
    const found = this.#find(module, 'name')
    return found !== undefined && hasMember(found, name) ? { ref: 'member', module: found } : null
  }

  #moduleRef(name: string | null, by: ModuleLookup): Reference | null {
    if (name === null) return null
    const module = name === this.#module.name ? this.#module : this.#find(name, by)
    if (module === undefined || module.isInterface) return null
    return { ref: 'module', module: moduleNameOf(module.name), interfaces: module.interfaces.map(moduleNameOf) }
  }

  /** Finds another module, and keeps it as a dependency of this one. */
  #find(name: string, by: ModuleLookup): Module | undefined {
    const found = storedModule(this.#run, name)
    if (found === undefined) return undefined
    this.lookups.push({ found, by })
    if (found.name !== this.#module.name) this.#module.dependencies.set(found.name, found)
    return found
  }
}

function hasMember(module: Module, name: string): boolean {
  const definition: Definition | undefined = module.get(name)
  if (definition === undefined || ownerOf(definition) !== module) return false
  return !module.isInterface || definition instanceof Const || definition instanceof Schema
}
