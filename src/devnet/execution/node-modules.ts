/** Ids of modules for the execution thread. */
import type { Module } from '#language/contracts/machine/ast.ts'
import type { ReadableState } from '#language/contracts/machine/state.ts'
import {
  decodeModule,
  type EncodedModule,
  encodeModule,
  type ModuleId,
  type ModuleNumbers,
} from '../ledger/entry-codec.ts'
import type { CreatedModule, GenesisModule } from './messages.ts'

export class NodeModules implements ModuleNumbers {
  readonly #genesis: ReadableState
  readonly #ids = new WeakMap<Module, number>()
  /** Module -> its id; a module stays as long as the state has it. */
  readonly #modules = new Map<number, WeakRef<Module>>()
  #next = 1

  /** @param genesis state after the first block */
  constructor(genesis: ReadableState) {
    this.#genesis = genesis
  }

  idOf(module: Module): ModuleId {
    const known = this.#ids.get(module)
    if (known !== undefined) return known
    if (module === this.#genesis.get<Module>('modules', module.name)) return module.name
    const id = this.#next++
    this.#ids.set(module, id)
    this.#modules.set(id, new WeakRef(module))
    return id
  }

  moduleOf(id: ModuleId): Module {
    const module = typeof id === 'string' ? this.#genesis.get<Module>('modules', id) : this.#modules.get(id)?.deref()
    if (module === undefined) throw new Error(`there is no module ${id}`)
    return module
  }

  /** The modules of the first block. */
  get genesis(): readonly GenesisModule[] {
    return this.#genesis.keys('modules').map((name) => [name, this.encodedModuleOf(name)])
  }

  encodedModuleOf(id: ModuleId): EncodedModule {
    return encodeModule(this.moduleOf(id), this)
  }

  /** Loads modules that the thread has made, each after those that it uses. @returns modules by their old and new ids */
  loadCreated(made: readonly CreatedModule[]): ModuleNumbers {
    const loaded = new Map<ModuleId, Module>()
    const numbers: ModuleNumbers = {
      idOf: (module) => this.idOf(module),
      moduleOf: (id) => loaded.get(id) ?? this.moduleOf(id),
    }
    for (const [id, kept] of made) loaded.set(id, decodeModule(kept, numbers))
    return numbers
  }
}
