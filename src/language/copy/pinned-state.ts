/** The state of a chain at its pin, as a bottom for layers of writes. It has what is cached, and misses all else. */
import { ContractError, evalError, NOWHERE } from '../contracts/errors.ts'
import type { Module } from '../contracts/machine/ast.ts'
import { emptyEnvironment, type LanguageRules } from '../contracts/machine/environment.ts'
import type { ExpansionProbe } from '../contracts/machine/expand/probe.ts'
import { type Domain, MissingEntry, type ReadableState } from '../contracts/machine/state.ts'
import { linkModule } from '../contracts/stored-modules.ts'
import { splitName } from '../contracts/syntax/names.ts'
import { decodeStoredValue } from '../contracts/values/keep.ts'
import { domainOf } from './domains.ts'
import type { CopyEntries } from './entries.ts'
import { membersOf, namespaceOf } from './module-text.ts'

export class PinnedState implements ReadableState {
  readonly entries: CopyEntries
  readonly #rules: LanguageRules
  readonly #probe: ExpansionProbe | null
  /** Name -> the module, or why it cannot be had. */
  readonly #modules = new Map<string, Module | string>()
  readonly #tables = new Map<string, ReadonlySet<string>>()
  #names: ReadonlySet<string> | null = null

  /**
   * @param rules rules by which sizes of modules are measured; default: those of nodes
   * @param probe follows the code of the modules; default: nothing does
   */
  constructor(
    entries: CopyEntries,
    rules: LanguageRules = emptyEnvironment.block.rules,
    probe: ExpansionProbe | null = null,
  ) {
    this.entries = entries
    this.#rules = rules
    this.#probe = probe
  }

  /** The same state with modules of its own, whose code a probe follows. */
  followedBy(probe: ExpansionProbe): PinnedState {
    return new PinnedState(this.entries, this.#rules, probe)
  }

  /**
   * @throws MissingEntry if the entry is not fetched yet
   * @throws ContractError if it cannot be had
   */
  get<T>(domain: Domain, key: string): T | undefined {
    return domainOf(domain).get(this, key) as T | undefined
  }

  keys(domain: Domain): string[] {
    return domainOf(domain).keys(this)
  }

  /** Names of the modules that are fetched. */
  get fetchedModules(): ReadonlySet<string> {
    return new Set(this.entries.constants.list().map(([name]) => name))
  }

  /** Keys of the fetched rows of a table, and whether these are all of its rows. */
  fetchedRows(table: string): { readonly keys: readonly string[]; readonly isComplete: boolean } {
    const present = this.entries
      .rows(table)
      .list()
      .filter(([, row]) => row !== false)
    const isComplete = Array.isArray(this.entries.tableKeys.get(table))
    return { keys: present.map(([key]) => key), isComplete }
  }

  /**
   * Names of all modules of the chain.
   * @throws MissingEntry if they are not fetched yet
   */
  get moduleNames(): ReadonlySet<string> {
    if (this.#names === null) {
      const names = this.entries.moduleNames.get()
      if (names === undefined) throw new MissingEntry(this, 'modules', null)
      this.#names = new Set(names)
    }
    return this.#names
  }

  /** @throws like get */
  module(name: string): Module | undefined {
    const known = this.#modules.get(name)
    if (typeof known === 'string') throw evalError(known)
    if (known !== undefined) return known
    if (!this.moduleNames.has(name)) return undefined
    const module = this.#linkCached(name)
    this.#modules.set(name, module)
    if (typeof module === 'string') throw evalError(module)
    return module
  }

  /** The module, or why it cannot be had. */
  #linkCached(name: string): Module | string {
    const cached = this.entries.modules.get(name)
    const constants = this.entries.constants.get(name)
    if (cached === undefined || constants === undefined) throw new MissingEntry(this, 'modules', name)
    const origin = this.entries.origins.get(name)
    const described = {
      ...cached,
      place: origin ?? NOWHERE,
      imports: origin?.imports ?? '',
      namespace: namespaceOf(name),
      constants: new Map(constants.map(([constant, value]) => [constant, decodeStoredValue(value)])),
    }
    try {
      return linkModule(described, this, this.#rules, this.#probe)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      return `The forked module ${name} does not load here: ${error.wireMessage}`
    }
  }

  /**
   * Whether a module of the forked network has the table. Tables of other modules are not there.
   * @throws MissingEntry if the module is not fetched yet
   */
  hasTable(table: string): boolean {
    const parts = splitName(table)
    if (parts === null || !this.moduleNames.has(parts.module)) return false
    let tables = this.#tables.get(parts.module)
    if (tables === undefined) {
      const cached = this.entries.modules.get(parts.module)
      if (cached === undefined) throw new MissingEntry(this, 'modules', parts.module)
      tables = new Set(membersOf(cached.code, 'deftable'))
      this.#tables.set(parts.module, tables)
    }
    return tables.has(parts.member) && !this.entries.absentTables.has(table)
  }
}
