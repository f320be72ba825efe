/** The state of a recorded transaction: what its node has recorded, and asks of the node for more. */
import type { Module } from '#language/contracts/machine/ast.ts'
import type { ExpansionProbe } from '#language/contracts/machine/expand/probe.ts'
import { type Domain, MissingEntry, type ReadableState } from '#language/contracts/machine/state.ts'
import type { EntryRequest, RecordedEntry, Recording } from '../execution/recording.ts'
import { decodeEntry, decodeModule, type EncodedModule, type ModuleId } from '../ledger/entry-codec.ts'

/** Who knows of modules that are rebuilt, and of the node. */
interface ModuleListener {
  /** A module is rebuilt until `end`. */
  begin(module: EncodedModule): void
  end(): void
  /** Records the transaction again, with an entry more; null if the node does not. */
  find(wanted: EntryRequest): Recording | null
}

/** Domains whose entries refer to modules, which have other ids in another recording. */
const LINKED: ReadonlySet<Domain> = new Set(['modules', 'pacts'])

export class RecordedState implements ReadableState {
  readonly #entries = new Map<string, { readonly domain: Domain; readonly value?: unknown }>()
  readonly #keys: Map<Domain, readonly string[]>
  readonly #encoded: ReadonlyMap<ModuleId, EncodedModule>
  readonly #modules = new Map<ModuleId, Module>()
  readonly #values = new Map<string, unknown>()
  readonly #probe: ExpansionProbe
  readonly #listener: ModuleListener

  /** @param probe follows the code of the modules */
  constructor({ entries, keys, modules }: Recording, probe: ExpansionProbe, listener: ModuleListener) {
    for (const each of entries) this.#entries.set(`${each.domain}\0${each.key}`, each)
    this.#keys = new Map(keys.map((each) => [each.domain, each.keys]))
    this.#encoded = new Map(modules)
    this.#probe = probe
    this.#listener = listener
  }

  /** @throws MissingEntry if the node does not record the entry */
  get<T>(domain: Domain, key: string): T | undefined {
    const name = `${domain}\0${key}`
    const known = this.#values.get(name)
    if (known !== undefined) return known as T
    const entry = this.#entries.get(name) ?? this.#find(domain, key)
    if (entry === null) throw new MissingEntry(this, domain, key)
    if (!('value' in entry)) return undefined
    const value = decodeEntry(domain, entry.value, this)
    this.#values.set(name, value)
    return value as T
  }

  /** @throws MissingEntry if the node does not record the keys */
  keys(domain: Domain): string[] {
    const keys = this.#keys.get(domain) ?? this.#listener.find({ domain, key: null })?.keys.find(isOf(domain))?.keys
    if (keys === undefined) throw new MissingEntry(this, domain, null)
    this.#keys.set(domain, keys)
    return [...keys]
  }

  #find(domain: Domain, key: string): RecordedEntry | null {
    if (LINKED.has(domain)) return null
    const entries = this.#listener.find({ domain, key })?.entries
    const entry = entries?.find((each) => each.domain === domain && each.key === key) ?? null
    if (entry !== null) this.#entries.set(`${domain}\0${key}`, entry)
    return entry
  }

  moduleOf(id: ModuleId): Module {
    const known = this.#modules.get(id)
    if (known !== undefined) return known
    const encoded = this.#encoded.get(id)
    if (encoded === undefined) throw new Error(`there is no module ${id}`)
    // Its dependencies come first, so that one module is rebuilt at a time.
    for (const [, each] of [...encoded.modules, ...encoded.scope]) this.moduleOf(each)
    this.#listener.begin(encoded)
    const module = decodeModule(encoded, this, this.#probe)
    this.#listener.end()
    this.#modules.set(id, module)
    return module
  }

  idOf(module: Module): ModuleId {
    throw new Error(`the module ${module.name} has no id here`)
  }
}

const isOf = (domain: Domain) => (each: { readonly domain: Domain }) => each.domain === domain
