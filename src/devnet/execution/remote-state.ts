/** The state as the execution thread sees it: the node answers its reads. */
import type { Module } from '#language/contracts/machine/ast.ts'
import type { Domain, ReadableState } from '#language/contracts/machine/state.ts'
import {
  decodeEntry,
  decodeModule,
  type EncodedModule,
  encodeModule,
  type ModuleId,
  type ModuleNumbers,
} from '../ledger/entry-codec.ts'
import type { CreatedModule, GenesisModule, ThreadQuestion } from './messages.ts'

/** Asks the node, and waits for the answer. @throws NewcutError if the node cannot read its state */
type AskNode = (question: ThreadQuestion) => unknown

/** Maximum entries that a state caches: one command may read millions. */
const MAX_ENTRIES = 10_000

/** State of one block, or of a block under construction. */
export class RemoteState implements ReadableState {
  readonly #ask: AskNode
  readonly #modules: ModuleNumbers
  readonly #domains = new Map<Domain, Map<string, unknown>>()
  #size = 0

  constructor(ask: AskNode, modules: ModuleNumbers) {
    this.#ask = ask
    this.#modules = modules
  }

  get<T>(domain: Domain, key: string): T | undefined {
    let entries = this.#domains.get(domain)
    if (entries === undefined) {
      entries = new Map()
      this.#domains.set(domain, entries)
    }
    if (entries.has(key)) return entries.get(key) as T | undefined
    const json = this.#ask({ ask: 'entry', domain, key })
    const value = json === undefined ? undefined : decodeEntry(domain, json, this.#modules)
    if (this.#size++ < MAX_ENTRIES) entries.set(key, value)
    return value as T | undefined
  }

  keys(domain: Domain): string[] {
    return this.#ask({ ask: 'keys', domain }) as string[]
  }
}

/** Modules of the thread: loaded once, from the first block or from the node. */
export class RemoteModules implements ModuleNumbers {
  readonly #ask: AskNode
  readonly #genesis: ReadonlyMap<ModuleId, EncodedModule>
  readonly #ids = new WeakMap<Module, ModuleId>()
  readonly #modules = new Map<ModuleId, Module>()
  #made: CreatedModule[] = []
  #next = -1

  constructor(ask: AskNode, genesis: readonly GenesisModule[]) {
    this.#ask = ask
    this.#genesis = new Map(genesis)
    for (const [name] of genesis) this.moduleOf(name)
  }

  idOf(module: Module): ModuleId {
    const known = this.#ids.get(module)
    if (known !== undefined) return known
    const kept = encodeModule(module, this)
    const id = this.#next--
    this.#ids.set(module, id)
    this.#made.push([id, kept])
    return id
  }

  moduleOf(id: ModuleId): Module {
    const known = this.#modules.get(id)
    if (known !== undefined) return known
    const stored = this.#genesis.get(id) ?? (this.#ask({ ask: 'module', id }) as EncodedModule)
    const module = decodeModule(stored, this)
    this.#ids.set(module, id)
    this.#modules.set(id, module)
    return module
  }

  /** Modules that got an id since the last call. The node gives them ids of its own. */
  takeCreated(): readonly CreatedModule[] {
    const made = this.#made
    for (const [id] of made) this.#modules.delete(id)
    this.#made = []
    return made
  }
}
