/** The state of a chain at its pin, as a bottom for layers of writes. It has what is cached, and misses all else. */
import { type ExactJson, fieldsOf, parseExactJson } from '../base/json.ts'
import { ContractError, evalError, NOWHERE } from '../contracts/errors.ts'
import { Fun, type Module, type PactState } from '../contracts/machine/ast.ts'
import { emptyEnvironment, type LanguageRules } from '../contracts/machine/environment.ts'
import { type Domain, MissingEntry, type Namespace, type ReadableState } from '../contracts/machine/state.ts'
import { linkModule } from '../contracts/stored-modules.ts'
import { splitName } from '../contracts/syntax/names.ts'
import { type KeptValue, keptValue } from '../contracts/values/keep.ts'
import type { Guard, ObjectValue, Value } from '../contracts/values/value.ts'
import { valueFromJson } from '../contracts/values/wire.ts'
import type { ForkCache } from './cache.ts'
import { COUNTER_KEY } from './counter-fetch.ts'
import { rowKey } from './fetcher.ts'
import { headerKey } from './header-fetch.ts'
import type { CachedModule, CachedOrigin } from './module-fetch.ts'
import { membersOf, namespaceOf } from './module-text.ts'
import type { CachedPact } from './pact-fetch.ts'

export class PinnedState implements ReadableState {
  readonly #cache: ForkCache
  readonly #rules: LanguageRules
  /** Name -> the module, or why it cannot be had. */
  readonly #modules = new Map<string, Module | string>()
  readonly #tables = new Map<string, ReadonlySet<string>>()
  #names: ReadonlySet<string> | null = null

  /** @param rules rules by which sizes of modules are measured; default: those of nodes */
  constructor(cache: ForkCache, rules: LanguageRules = emptyEnvironment.block.rules) {
    this.#cache = cache
    this.#rules = rules
  }

  /**
   * @throws MissingEntry if the entry is not fetched yet
   * @throws ContractError if it cannot be had
   */
  get<T>(domain: Domain, key: string): T | undefined {
    return this.#entry(domain, key) as T | undefined
  }

  #entry(domain: Domain, key: string): unknown {
    if (domain.startsWith('table:')) return this.#row(domain.slice('table:'.length), key)
    switch (domain) {
      case 'modules':
        return this.#module(key)
      case 'tables':
        return this.#hasTable(key) ? true : undefined
      case 'keysets':
        return this.#kept(`keyset:${key}`, domain, key, (kept) => keptValue(kept as KeptValue) as Guard)
      case 'namespaces':
        return this.#kept(`namespace:${key}`, domain, key, (kept): Namespace => {
          const [user, admin] = (kept as KeptValue[]).map((guard) => keptValue(guard) as Guard)
          return { user, admin }
        })
      case 'headers':
        return this.#kept(headerKey(key), domain, key, (height) => height as number)
      case 'pacts':
        return this.#kept(`pact:${key}`, domain, key, (kept) => this.#pact(key, kept as CachedPact | null))
      case 'counters':
        return this.#kept(COUNTER_KEY, domain, key, (kept) => kept as number)
      default:
        return undefined
    }
  }

  keys(domain: Domain): string[] {
    if (domain === 'modules') return [...this.#moduleNames].sort()
    if (!domain.startsWith('table:')) return []
    const table = domain.slice('table:'.length)
    if (!this.#hasTable(table)) return []
    const keys = this.#cache.get(`keys:${table}`) as readonly string[] | { readonly tooMany: string } | undefined
    if (keys === undefined) throw new MissingEntry(this, domain, null)
    if ('tooMany' in keys) {
      throw evalError(`The forked table ${table} has ${keys.tooMany} rows, more than --fork-table-rows allows`)
    }
    return [...keys]
  }

  /** Names of the modules that are fetched. */
  get fetchedModules(): ReadonlySet<string> {
    const prefix = 'constants:'
    return new Set([...this.#cache.withPrefix(prefix)].map(([place]) => place.slice(prefix.length)))
  }

  /** Keys of the fetched rows of a table, and whether these are all of its rows. */
  fetchedRows(table: string): { readonly keys: readonly string[]; readonly isComplete: boolean } {
    const prefix = rowKey(table, '')
    const rows = [...this.#cache.withPrefix(prefix)].filter(([, row]) => row !== false)
    const isComplete = Array.isArray(this.#cache.get(`keys:${table}`))
    return { keys: rows.map(([place]) => place.slice(prefix.length)), isComplete }
  }

  /** @param read decodes what is cached */
  #kept<T>(place: string, domain: Domain, key: string, read: (kept: unknown) => T): T | undefined {
    const kept = this.#cache.get(place)
    if (kept === undefined) throw new MissingEntry(this, domain, key)
    return kept === false ? undefined : read(kept)
  }

  get #moduleNames(): ReadonlySet<string> {
    if (this.#names === null) {
      const names = this.#cache.get('modules')
      if (names === undefined) throw new MissingEntry(this, 'modules', null)
      this.#names = new Set(names as readonly string[])
    }
    return this.#names
  }

  #module(name: string): Module | undefined {
    const known = this.#modules.get(name)
    if (typeof known === 'string') throw evalError(known)
    if (known !== undefined) return known
    if (!this.#moduleNames.has(name)) return undefined
    const module = this.#linked(name)
    this.#modules.set(name, module)
    if (typeof module === 'string') throw evalError(module)
    return module
  }

  /** The module, or why it cannot be had. */
  #linked(name: string): Module | string {
    const cached = this.#cache.get(`module:${name}`) as CachedModule | undefined
    const constants = this.#cache.get(`constants:${name}`) as readonly (readonly [string, KeptValue])[] | undefined
    if (cached === undefined || constants === undefined) throw new MissingEntry(this, 'modules', name)
    const origin = this.#cache.get(`origin:${name}`) as CachedOrigin | undefined
    const described = {
      ...cached,
      place: origin ?? NOWHERE,
      imports: origin?.imports ?? '',
      namespace: namespaceOf(name),
      constants: new Map(constants.map(([constant, value]) => [constant, keptValue(value)])),
    }
    try {
      return linkModule(described, this, this.#rules)
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      return `The forked module ${name} does not load here: ${error.wireMessage}`
    }
  }

  /** Whether a module of the forked network has the table. Tables of other modules are not there. */
  #hasTable(table: string): boolean {
    const parts = splitName(table)
    if (parts === null || !this.#moduleNames.has(parts.module)) return false
    let tables = this.#tables.get(parts.module)
    if (tables === undefined) {
      const cached = this.#cache.get(`module:${parts.module}`) as CachedModule | undefined
      if (cached === undefined) throw new MissingEntry(this, 'modules', parts.module)
      tables = new Set(membersOf(cached.code, 'deftable'))
      this.#tables.set(parts.module, tables)
    }
    return tables.has(parts.member) && this.#cache.get(`table:${table}`) !== false
  }

  #row(table: string, key: string): ObjectValue | undefined {
    const kept = this.#cache.get(rowKey(table, key))
    if (kept === false) return undefined
    if (kept !== undefined) return keptValue(kept as KeptValue) as ObjectValue
    if (!this.#hasTable(table) || Array.isArray(this.#cache.get(`keys:${table}`))) return undefined
    throw new MissingEntry(this, `table:${table}`, key)
  }

  /** @throws ContractError if the state of the pact is in a command that no option names */
  #pact(id: string, cached: CachedPact | null): PactState | null {
    if (cached === null) return null
    if ('step' in cached) {
      const where = `the state of pact ${id} before step ${cached.step} is in the result of another command`
      throw evalError(`The forked network does not tell it: ${where}; name its request key with --fork-pact`)
    }
    return this.#pactIn(parseExactJson(cached.continuation))
  }

  #pactIn(json: ExactJson): PactState {
    const { pactId, step, continuation, nested, yield: yielded } = fieldsOf(json)
    const { def, args } = fieldsOf(continuation)
    const name = splitName(String(def))
    const fun = name === null ? undefined : this.#module(name.module)?.get(name.member)
    if (!(fun instanceof Fun)) throw evalError(`The forked network has no defpact ${String(def)}`)
    return {
      id: String(pactId),
      fun,
      args: valueFromJson(args ?? []) as readonly Value[],
      step: Number(step),
      yielded: yieldIn(yielded ?? null),
      nested: new Map(Object.entries(fieldsOf(nested)).map(([id, each]) => [id, this.#pactIn(each)])),
    }
  }
}

function yieldIn(json: ExactJson): PactState['yielded'] {
  if (json === null) return null
  const { data, provenance, source } = fieldsOf(json)
  const { targetChainId, moduleHash } = fieldsOf(provenance)
  return {
    data: valueFromJson(data ?? {}) as ObjectValue,
    provenance:
      typeof targetChainId === 'string' && typeof moduleHash === 'string' ? { chain: targetChainId, moduleHash } : null,
    source: typeof source === 'string' ? source : null,
  }
}
