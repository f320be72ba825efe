/**
 * Modules that a program has looked up so far. The network reads a module from its database on first use, merges the
 * definitions with those that are loaded already, and charges for both.
 */
import { Const, type LoadedModules, type Module, Schema } from './ast.ts'

/** Milligas for reading a module, and bytes per further milligas (PROTOCOL.md E.5). */
const READ = { fixed: 10, bytesPerMilligas: 200 }
/** Milligas for each pair of a loaded definition and a new one. */
const MERGE_COST = 10

export class LoadedModuleSet implements LoadedModules {
  imported = 0
  /** By name and hash: a module that was read from the disk again is the same. */
  readonly #keys = new Set<string>()
  /** Definitions of these modules and their dependencies: those of the only module, or a set for all of them. */
  #definitions: ReadonlySet<string> = new Set()
  #all: Set<string> | null = null

  get size(): number {
    return this.#definitions.size
  }

  noteLookup(module: Module, charge: (milligas: number) => void): void {
    const contents = contentsOf(module)
    if (this.#keys.has(contents.key)) return
    charge(READ.fixed + Math.floor((module.image?.bytes ?? 0) / READ.bytesPerMilligas))
    charge(MERGE_COST * this.size * contents.definitions.size)
    this.#add(contents)
  }

  add(module: Module): void {
    this.#add(contentsOf(module))
  }

  #add({ key, definitions }: ModuleContents): void {
    this.#keys.add(key)
    if (this.#keys.size === 1) {
      this.#definitions = definitions
      return
    }
    this.#all ??= new Set(this.#definitions)
    for (const each of definitions) this.#all.add(each)
    this.#definitions = this.#all
  }
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

const known = new WeakMap<Module, ModuleContents>()

function contentsOf(module: Module): ModuleContents {
  const before = known.get(module)
  if (before !== undefined) return before
  const { image, name, hash } = module
  const own = [...(image?.measures.keys() ?? [])].filter((member) => isLoaded(module, member))
  const keys = [...own.map((member) => `${name}.${member}.{${hash}}`), ...(image?.dependencies.keys() ?? [])]
  const contents = { key: `${name}.${hash}`, definitions: new Set(keys) }
  known.set(module, contents)
  return contents
}
