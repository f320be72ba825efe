/**
 * Finds what names mean: members of the module being loaded, imports, members of other modules, and modules.
 *
 * A name without a namespace means a module of the root namespace. If there is none, it means one of the namespace that
 * the program has entered.
 */
import { findSimilarName } from '#ground/base/similar-names.ts'
import { evalError, type TextPlace } from '../../errors.ts'
import { splitName } from '../../syntax/names.ts'
import { Const, type Definition, FunctionDefinition, type Module, ownerOf, type Run, Schema } from '../ast.ts'
import { storedModule } from '../loaded-modules.ts'
import type { ModuleLookup } from '../module-lookup.ts'
import {
  noSchema,
  noSuchMember,
  noSuchModule,
  noSuchNamespacedModule,
  notFree,
  unboundType,
  wrongManager,
  wrongModule,
} from './load-errors.ts'

/** Names of variables, innermost first. */
interface VariableNames {
  readonly name: string
  readonly up: VariableNames | null
}

/** A member, or a module as a value. */
export type Referent = { readonly definition: Definition } | { readonly module: Module }

/** Knows which members of the module being loaded the network has resolved before a definition. */
export interface ResolvedBefore {
  has(member: string): boolean
  readonly isInConstant: boolean
  /** Begins a definition. */
  begin(definition: string | null, kind: string): void
}

export class Resolver {
  /** Null if code may name every member with its module. */
  order: ResolvedBefore | null = null
  readonly run: Run
  /** The module that contains the code, or null at the top level. */
  readonly module: Module | null
  /** Names of members, some of which are declared later. */
  readonly #later: ReadonlySet<string>

  constructor(run: Run, module: Module | null, later: ReadonlySet<string>) {
    this.run = run
    this.module = module
    this.#later = later
  }

  /**
   * Finds what a name with or without dots means.
   * @param variables variables that the name does not mean, for the hint of the error
   * @throws EvalError if it means nothing
   */
  resolve(name: string, place: TextPlace, variables: VariableNames | null = null): Referent {
    const parts = splitName(name)
    if (parts !== null) return this.#resolveQualified(parts.module, parts.member, place)
    const definition = this.findBare(name)
    return definition === undefined ? { module: this.requireModule(name, place, variables) } : { definition }
  }

  /** Finds a member of the module itself, an import of the module, or an import at the top level. */
  findBare(name: string): Definition | undefined {
    const { module, run } = this
    const own = module?.get(name)
    if (own !== undefined && isVisible(own)) return own
    const imported = module?.imports.get(name)
    if (imported !== undefined) return imported
    const atTop = run.program.imports.get(name)
    if (atTop !== undefined) module?.outside.set(name, ownerOf(atTop))
    return atTop
  }

  /** Whether a name without dots means a module: that being loaded, or a loaded one. */
  isModule(name: string): boolean {
    const { module, run } = this
    const { namespace } = run.program
    const names = namespace === null ? [name] : [name, `${namespace}.${name}`]
    return names.some((full) => module?.name === full || this.#find(full) !== undefined)
  }

  /** Finds `module.member`, or the module of this name as a value. */
  #resolveQualified(around: string, member: string, place: TextPlace): Referent {
    const exact = this.#findMember(around, member, place)
    if (exact !== undefined) return { definition: exact }
    const { namespace } = this.run.program
    let known = this.#find(around, place)
    if (!around.includes('.')) {
      const module = this.#find(`${around}.${member}`, place, 'running')
      if (module?.isInterface) throw evalError(`Expected module, found interface: ${module.name}`, place)
      if (module !== undefined) return { module }
      const found = namespace === null ? undefined : this.#findMember(`${namespace}.${around}`, member, place)
      if (found !== undefined) return { definition: found }
      if (namespace !== null) known ??= this.#find(`${namespace}.${around}`)
    }
    throw noSuchMember(around, member, place, () => {
      const full = namespace === null ? around : `${namespace}.${around}`
      if (this.module?.name === full && this.#later.has(member))
        return `this name comes too early here: write ${member}`
      return suggestSimilar(member, known === undefined ? [] : membersOf(known))
    })
  }

  /**
   * Finds a member by the full name of its module. In the module being loaded, code finds the members that come before it in
   * the order of the network. The others must be in the version before. The network then puts the new version in place of that
   * one, but in types and in constants, which are evaluated by then.
   */
  #findMember(full: string, member: string, place: TextPlace): Definition | undefined {
    const { module, order } = this
    const own = module?.name === full && !module.isInterface ? module.get(member) : undefined
    if (own !== undefined && order?.has(member) !== false) return own
    const before = this.#find(full, place)?.get(member)
    if (before === undefined || !isVisible(before)) return undefined
    return own === undefined || before instanceof Schema || order?.isInConstant ? before : own
  }

  /**
   * Finds a module that is not an interface.
   * @throws EvalError if there is none
   */
  requireModule(name: string, place: TextPlace, variables: VariableNames | null = null): Module {
    const { module } = this
    if (module !== null && !module.isInterface && module.name === name) return module
    const found = this.#findLoaded(name, place, module?.isInterface === false ? module : null, variables)
    if (found.isInterface) throw wrongModule(found.name, true, place)
    return found
  }

  /**
   * Finds an interface.
   * @throws EvalError if there is none
   */
  requireInterface(name: string, place: TextPlace): Module {
    const { module } = this
    if (module?.isInterface && module.name === name) return module
    const found = this.#findLoaded(name, place, module?.isInterface ? module : null)
    if (!found.isInterface) throw wrongModule(found.name, false, place)
    return found
  }

  /**
   * Finds a module or interface that is loaded, not the one being loaded.
   * @throws EvalError if there is none
   */
  requireLoaded(name: string, place: TextPlace): Module {
    return this.#findLoaded(name, place, null)
  }

  /** @param self module being loaded that its name in the current namespace means, or null */
  #findLoaded(name: string, place: TextPlace, self: Module | null, variables: VariableNames | null = null): Module {
    const exact = this.#find(name, place)
    if (exact !== undefined) return exact
    const { namespace } = this.run.program
    if (name.includes('.')) throw noSuchModule(name, place, 'no module has this name')
    if (namespace === null) throw noSuchModule(name, place, () => this.#hintFor(name, variables))
    const full = `${namespace}.${name}`
    const found = self?.name === full ? self : this.#find(full, place)
    if (found === undefined) throw noSuchNamespacedModule(full, place)
    return found
  }

  #hintFor(name: string, variables: VariableNames | null): string {
    const { module, run } = this
    const names = [...(module === null ? [] : [...membersOf(module), ...module.imports.keys()]), ...this.#later]
    for (let each = variables; each !== null; each = each.up) names.push(each.name)
    const similar = suggestSimilar(name, [...names, ...run.program.imports.keys(), ...run.natives.keys()])
    return `no variable, member, import or module has this name${similar && `; ${similar}`}`
  }

  /**
   * Finds a loaded module by its full name, and records it as a dependency of the module being loaded. The names of that
   * module cost gas later, in the order of the network (module-hash/resolve.ts).
   */
  #find(full: string, place?: TextPlace, by: ModuleLookup = 'name'): Module | undefined {
    const { run } = this
    const found = storedModule(run, full)
    if (found === undefined) return undefined
    if (run.program.loading === null) run.noteLookup(found, by, place)
    this.module?.dependencies.set(full, found)
    return found
  }

  /**
   * Finds a schema.
   * @throws EvalError if the name means something else, or nothing
   */
  requireSchema(name: string, place: TextPlace): Schema {
    if (this.#later.has(name) && this.module?.get(name) === undefined) throw noSchema(name, place)
    const found = this.resolve(name, place)
    if ('definition' in found && found.definition instanceof Schema) return found.definition
    if ('definition' in found || name.includes('.')) throw noSchema(splitName(name)?.member ?? name, place)
    throw unboundType(name, place)
  }

  /**
   * Finds the function that manages a capability.
   * @throws EvalError if the name means something else, or nothing
   */
  requireManager(name: string, place: TextPlace): FunctionDefinition {
    const found = this.resolve(name, place)
    if (!('definition' in found)) throw notFree(name, place)
    const { definition } = found
    if (definition instanceof FunctionDefinition && definition.kind === 'defun') return definition
    throw wrongManager(`${ownerOf(definition).name}.${definition.name}`, place)
  }
}

/** Code can use constants and schemas of interfaces only. */
export function isVisible(definition: Definition): boolean {
  return definition instanceof Const || definition instanceof Schema || !ownerOf(definition).isInterface
}

/** Names that code can use. */
function membersOf(module: Module): string[] {
  return [...module.definitions].filter(([, definition]) => isVisible(definition)).map(([name]) => name)
}

/** Maximum letters in which a similar name differs, and letters of a name for each of them. */
const MAX_DIFFERENCES = 3
const LETTERS_PER_DIFFERENCE = 3

/** A question for the most similar name; empty if none is similar. */
function suggestSimilar(name: string, known: readonly string[]): string {
  const differences = Math.min(MAX_DIFFERENCES, Math.floor(name.length / LETTERS_PER_DIFFERENCE))
  const similar = findSimilarName(name, known, differences)
  return similar === null || similar === name ? '' : `did you mean ${similar}?`
}
