/**
 * Modules that a program has looked up so far. The network reads a module from its database on first use, and adds its
 * definitions to those that are loaded already. Both cost gas where code names the module. Where code that runs needs
 * it, only the read does (LANGUAGE.md, Look-ups of modules).
 */

import type { TextPlace } from '../errors.ts'
import { Const, type Module, type Run, Schema } from './ast.ts'
import type { ChargedRun, LoadedModules, ModuleLookup } from './module-lookup.ts'

/** Milligas for reading a module, and bytes per further milligas (PROTOCOL.md E.5). */
const READ = { fixed: 10, bytesPerMilligas: 200 }
/** Milligas for each pair of a loaded definition and a new one. */
const MERGE_COST = 10

export class LoadedModuleSet implements LoadedModules<Module> {
  imported = 0
  /** By name and hash: a module that was read from the disk again is the same. */
  readonly #keys = new Set<string>()
  /** Definitions of these modules and their dependencies. A module or a fork may share this set. */
  #definitions: ReadonlySet<string> = new Set()
  /** The same set, if nothing shares it. */
  #own: Set<string> | null = null

  get size(): number {
    return this.#definitions.size
  }

  sizeWith(module: Module, members: Iterable<string>): number {
    let { size } = this
    for (const member of members) if (!this.#definitions.has(definitionKey(module, member))) size++
    return size
  }

  noteLookup(module: Module, by: ModuleLookup, payer: ChargedRun, place?: TextPlace): void {
    const contents = contentsOf(module)
    if (this.#keys.has(contents.key)) return
    const [bytes, before, added] = [module.image?.stored ?? 0, this.size, contents.definitions.size]
    payer.charge(
      READ.fixed + Math.floor(bytes / READ.bytesPerMilligas),
      () => `GModuleOp (MOpLoadModule ${bytes})`,
      place,
    )
    if (by === 'name') {
      payer.charge(MERGE_COST * before * added, () => `GModuleOp (MOpMergeDeps ${before} ${added})`, place)
    }
    this.#add(contents)
  }

  add(module: Module): void {
    this.#add(contentsOf(module))
  }

  fork(): LoadedModuleSet {
    const fork = new LoadedModuleSet()
    fork.imported = this.imported
    for (const key of this.#keys) fork.#keys.add(key)
    fork.#definitions = this.#definitions
    this.#own = null
    return fork
  }

  #add({ key, definitions }: ModuleContents): void {
    this.#keys.add(key)
    if (this.#definitions.size === 0) {
      this.#definitions = definitions
      return
    }
    this.#own ??= new Set(this.#definitions)
    for (const each of definitions) this.#own.add(each)
    this.#definitions = this.#own
  }
}

/** Finds a module by its qualified name, without gas. */
export function storedModule({ transaction }: Pick<Run, 'transaction'>, name: string): Module | undefined {
  return transaction.state.get<Module>('modules', name)
}

/** True for a member that others can name: in interfaces only constants and schemas. */
export function isLoaded(module: Module, member: string): boolean {
  const definition = module.get(member)
  return !module.isInterface || definition instanceof Const || definition instanceof Schema
}

interface ModuleContents {
  /** Name and hash. */
  readonly key: string
  /** Keys of the definitions that come with the module. */
  readonly definitions: ReadonlySet<string>
}

function definitionKey({ name, hash }: Module, member: string): string {
  return `${name}.${member}.{${hash}}`
}

const known = new WeakMap<Module, ModuleContents>()

function contentsOf(module: Module): ModuleContents {
  const before = known.get(module)
  if (before !== undefined) return before
  const { image, name, hash } = module
  const own = [...(image?.measures.keys() ?? [])].filter((member) => isLoaded(module, member))
  const keys = [...own.map((member) => definitionKey(module, member)), ...(image?.dependencies.keys() ?? [])]
  const contents = { key: `${name}.${hash}`, definitions: new Set(keys) }
  known.set(module, contents)
  return contents
}
