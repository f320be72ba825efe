/**
 * Modules that a program has looked up so far. The network reads a module from its database on first use, merges the
 * definitions with those that are loaded already, and charges for both.
 */
import { Const, type LoadedModules, type Module, Schema } from './ast.ts'

/** Milligas for reading a module, and bytes per further milligas. */
const READ = { fixed: 10, bytesPerMilligas: 200 }
/** Milligas for each pair of a loaded definition and a new one. */
const MERGE_COST = 10

export class LoadedModuleSet implements LoadedModules {
  imported = 0
  /** By name and hash: a module that was read from the disk again is the same. */
  readonly #modules = new Set<string>()
  /** Definitions of these modules and their dependencies. */
  readonly #definitions = new Set<string>()

  get size(): number {
    return this.#definitions.size
  }

  look(module: Module, charge: (milligas: number) => void): void {
    if (this.#modules.has(keyOf(module))) return
    const definitions = definitionsOf(module)
    charge(READ.fixed + Math.floor((module.image?.bytes ?? 0) / READ.bytesPerMilligas))
    charge(MERGE_COST * this.size * definitions.length)
    this.#add(module, definitions)
  }

  add(module: Module): void {
    this.#add(module, definitionsOf(module))
  }

  #add(module: Module, definitions: readonly string[]): void {
    this.#modules.add(keyOf(module))
    for (const each of definitions) this.#definitions.add(each)
  }
}

/** True for a member that others can name: in interfaces only constants and schemas. */
export function isLoaded(module: Module, member: string): boolean {
  const definition = module.get(member)
  return !module.isInterface || definition instanceof Const || definition instanceof Schema
}

/** Keys of the definitions that come with each module. */
const known = new WeakMap<Module, readonly string[]>()

function definitionsOf(module: Module): readonly string[] {
  const before = known.get(module)
  if (before !== undefined) return before
  const { image, name, hash } = module
  const own = [...(image?.measures.keys() ?? [])].filter((member) => isLoaded(module, member))
  const keys = [...own.map((member) => `${name}.${member}.{${hash}}`), ...(image?.dependencies.keys() ?? [])]
  known.set(module, keys)
  return keys
}

function keyOf({ name, hash }: Module): string {
  return `${name}.${hash}`
}
