/** Finds what a name means, by the rules of the resolver of the language. */

import { type NativeWord, vocabulary } from '../../contracts/repl/vocabulary.ts'
import { splitName } from '../../contracts/syntax/names.ts'
import { isUsable, type ModuleSymbol, type NamedSymbol } from '../text/symbols.ts'
import type { AnalysisSources } from './analysis.ts'

/** Variables, innermost first. */
export interface VariableScope {
  readonly symbol: NamedSymbol
  isUsed: boolean
  readonly up: VariableScope | null
}

/** Names in scope at the top level of a program. */
export interface ProgramNames {
  namespace: string | null
  imports: Map<string, NamedSymbol>
  /** Names that `use` imports from modules that are not known; ALL_NAMES for whatever such a module has. */
  readonly lostImports: Set<string>
  readonly modules: Map<string, ModuleSymbol>
  /** Texts in the message of the command, by name. */
  data: ReadonlyMap<string, string>
  /** True once a name has led to a module whose text is on its way, or whose namespace the text does not state. */
  isUncertain: boolean
  /** True once the file has forked a network that this editor does not know. Any module may be there. */
  isForked: boolean
}

/** Stands for all names of a module that is not known. */
export const ALL_NAMES = '*'

export type ResolvedSymbol =
  | { readonly symbol: NamedSymbol }
  | { readonly native: NativeWord }
  /** The text of a module is on its way, or the name may come from a module that is not known. */
  | 'pending'
  | null

export class NameLookup {
  readonly #names: ProgramNames
  readonly #sources: AnalysisSources
  /** The module around the code, or null. */
  readonly #module: ModuleSymbol | null
  /** Names that `use` has imported into the module. */
  readonly moduleImports = new Map<string, NamedSymbol>()
  /** As `lostImports` of the program, for the module. */
  readonly lostImports = new Set<string>()
  /** Whether natives of test files have a meaning here. */
  readonly #hasTests: boolean

  constructor(names: ProgramNames, sources: AnalysisSources, findModule: ModuleSymbol | null, hasTests: boolean) {
    this.#names = names
    this.#sources = sources
    this.#module = findModule
    this.#hasTests = hasTests
  }

  /**
   * Finds what a name means where code uses it. Marks a variable as used; a module whose text is on its way makes the
   * names of the program uncertain.
   */
  resolveUse(name: string, scope: VariableScope | null): ResolvedSymbol {
    const parts = splitName(name)
    if (parts !== null) return this.#resolveQualified(parts.module, parts.member)
    const native = this.findNative(name)
    if (native?.isReserved) return { native }
    for (let each = scope; each !== null; each = each.up) {
      if (each.symbol.name !== name) continue
      each.isUsed = true
      return { symbol: each.symbol }
    }
    const bare = this.findBare(name)
    if (bare !== undefined) return { symbol: bare }
    if (native !== undefined) return { native }
    return this.module(name) ?? (this.#isLost(name) ? 'pending' : null)
  }

  /** An import whose module is not known explains the name: the finding is at the import. */
  #isLost(name: string): boolean {
    const lost = [this.lostImports, this.#names.lostImports]
    return lost.some((names) => names.has(name) || names.has(ALL_NAMES))
  }

  /** Names that need no module in front, for suggestions. */
  *allNames(): Iterable<string> {
    for (const [name, word] of vocabulary) if (!word.isOfTests || this.#hasTests) yield name
    yield* this.#module?.members.keys() ?? []
    yield* this.moduleImports.keys()
    yield* this.#names.imports.keys()
    yield* this.#names.modules.keys()
  }

  /** True for a module that the program has loaded before, that is around the code, or that a live network may have. */
  isLoaded({ full, file }: ModuleSymbol): boolean {
    const { isForked, modules } = this.#names
    return this.#module?.full === full || modules.has(full) || isForked || this.#sources.isLive(file)
  }

  findNative(name: string): NativeWord | undefined {
    const word = vocabulary.get(name)
    return word?.isOfTests && !this.#hasTests ? undefined : word
  }

  findBare(name: string): NamedSymbol | undefined {
    const own = this.#module?.members.get(name)
    if (own !== undefined && (isUsable(own) || own.owner === this.#module)) return own
    return this.moduleImports.get(name) ?? this.#names.imports.get(name)
  }

  /** Finds a module or interface by its name, in the root or in the current namespace. */
  module(name: string): { readonly symbol: ModuleSymbol } | 'pending' | null {
    const { namespace } = this.#names
    const exact = this.#resolveModule(name)
    if (exact !== null || namespace === null || name.includes('.')) return exact
    return this.#resolveModule(`${namespace}.${name}`)
  }

  /** Finds a module by its full name. Notes in `isUncertain` that its text or namespace is not known. */
  #resolveModule(full: string): { readonly symbol: ModuleSymbol } | 'pending' | null {
    if (this.#module?.full === full) return { symbol: this.#module }
    const own = this.#names.modules.get(full)
    if (own !== undefined) return { symbol: own }
    // A name without a dot is rarely a module.
    const found = this.#sources.foreign(full) ?? (this.#names.isForked && full.includes('.') ? 'pending' : null)
    if (found === 'pending' || found?.isAnyNamespace === true) this.#names.isUncertain = true
    return found === null || found === 'pending' ? found : { symbol: found }
  }

  #resolveQualified(around: string, member: string): ResolvedSymbol {
    const exact = this.#resolveModule(around)
    if (exact === 'pending') return exact
    const found = exact === null ? undefined : usableMember(exact.symbol, member)
    if (found !== undefined) return { symbol: found }
    if (around.includes('.')) return null
    const module = this.#resolveModule(`${around}.${member}`)
    const isGuess = module === 'pending' && exact !== null && this.#names.isForked
    if (module !== null && !isGuess) return module
    const { namespace } = this.#names
    const inside = namespace === null ? null : this.#resolveModule(`${namespace}.${around}`)
    if (inside === null || inside === 'pending') return inside
    const own = usableMember(inside.symbol, member)
    return own === undefined ? null : { symbol: own }
  }
}

function usableMember(module: ModuleSymbol, name: string): NamedSymbol | undefined {
  const member = module.members.get(name)
  return member !== undefined && isUsable(member) ? member : undefined
}
