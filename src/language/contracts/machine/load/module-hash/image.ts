/**
 * A module as the network stores it: its hash, its size, and the definitions of other modules that it depends on.
 * Loading is charged by them.
 */
import { evalError } from '../../../errors.ts'
import type { CallForm } from '../../../syntax/form.ts'
import { textSize } from '../../../values/charged-size.ts'
import { hashBytes } from '../../../values/hash.ts'
import type { DefinitionMeasure, Dependency, Module, ModuleImage } from '../../ast.ts'
import type { ExpandingRun } from '../../expand/expander.ts'
import { SILENT } from '../../gas/cost-names.ts'
import { isLoaded, storedModule } from '../../loaded-modules.ts'
import { type Dependencies, dependenciesOf, pickCost, targetKey } from './dependencies.ts'
import { encodeModule } from './encode.ts'
import { PLACEHOLDERS } from './hash-text.ts'
import { measureDefinition, measureFrame, NETWORK, type SizeWeights, sizeOfMeasure, TEST_FILES } from './measure.ts'
import { type MembersInOrder, resolveModule } from './resolve.ts'
import { HASH, hashSize, LIST, moduleNameSize, ONE, SEVERAL } from './sizes.ts'
import { measureStored } from './stored-size.ts'
import { moduleNameOf, nameOfDefinition, type ResolvedModule } from './terms.ts'

/** Milligas per byte of a module: before its constants are evaluated, for its hash, and for storing it (PROTOCOL.md E.5). */
const COSTS = { resolve: 400, hash: 100, store: 200 } as const
/** Milligas for each byte that is counted, if that alone exceeds the limit. */
const COUNT_COST = 5
/**
 * Maximum size of a module in bytes, where gas has no limit. Schemas that name schemas twice could make it exponentially
 * large.
 */
const MAX_SIZE = 16 * 1024 * 1024

/** Loads the image of a module in steps, because its constants are evaluated in between. */
export class ImageLoader {
  readonly #run: ExpandingRun
  readonly #module: Module
  readonly #resolved: ResolvedModule

  /**
   * Resolves the members of a module.
   * @throws ContractError if a name in them means nothing to the network
   */
  constructor(run: ExpandingRun, module: Module, form: CallForm, parts: MembersInOrder) {
    this.#run = run
    this.#module = module
    this.#resolved = resolveModule(run, module, form, parts)
    for (const { found, by } of this.#resolved.lookups) run.noteLookup(found, by, module.place)
  }

  /**
   * Charges for the resolved module. Call it before constants are evaluated.
   * @throws EvalError if the gas does not suffice, or the module is too large
   */
  chargeResolved(): void {
    this.#charge(COSTS.resolve, this.#sizeOf(false), (size) => `GModuleOp (MOpDesugarModule ${size})`)
  }

  /** A size that is far beyond the limit is charged as if counting had ended there, as on the network. */
  #charge(cost: number, size: number, nameOf: (size: number) => string): void {
    const { limit, used } = this.#run.transaction.gas
    const countable = Math.floor((limit - used) / COUNT_COST) + 1
    const milligas = size > countable ? COUNT_COST * countable : cost * size
    this.#run.charge(milligas, () => nameOf(size), this.#module.place)
    if (size > MAX_SIZE) throw evalError(`The module ${this.#module.name} is too large: ${size} bytes`)
  }

  /**
   * Charges for hashing.
   * @returns the hash of the module, in base64url
   * @throws EvalError if the gas does not suffice
   */
  hash(): string {
    this.#charge(COSTS.hash, this.#sizeOf(true), (size) => `GHashOp (GHashBlake ${size})`)
    return hashBytes(encodeModule(this.#resolved, (name) => storedModule(this.#run, name)))
  }

  get #weights(): SizeWeights {
    return this.#run.block.rules.areSizesOfRunner ? TEST_FILES : NETWORK
  }

  /** Size without places, with placeholders for the hash of the module. */
  #sizeOf(withValues: boolean, of = this.#weights): number {
    const { module, definitions } = this.#resolved
    const weights = { ...of, place: 0 }
    const placeholder = module.isInterface ? PLACEHOLDERS.interface : PLACEHOLDERS.module
    const hash = hashSize(placeholder)
    let size = sizeOfMeasure(measureFrame(this.#resolved), weights, hash)
    for (const each of definitions)
      size += sizeOfMeasure(measureDefinition(this.#resolved, each, withValues), weights, hash)
    return size
  }

  /**
   * Finds the dependencies of the module, which has its hash by now, and charges for the search.
   * @throws EvalError if the gas does not suffice
   */
  image(): ModuleImage {
    const measures = new Map(
      this.#resolved.definitions.map((each) => [nameOfDefinition(each), measureDefinition(this.#resolved, each, true)]),
    )
    const module = this.#module
    if (module.isInterface) return this.#complete(measures, this.#dependenciesOfInterface())
    const own = [...measures].map(([name, measure]): Dependency => ({ module, name, measure }))
    const { limit } = this.#run.transaction.gas
    const isLimited = Number.isFinite(limit)
    const dependencies = dependenciesOf(
      own,
      (target) => target.module.image?.measures.get(target.name),
      (milligas) => {
        // The search itself is free without a limit, as on the network.
        if (isLimited) this.#run.charge(milligas, SILENT)
      },
    )
    const { loaded } = this.#run.program
    // A module that is loaded again as it was has the same definitions.
    const price = pickCost(loaded.sizeWith(module, measures.keys()), own.length + dependencies.size)
    this.#run.charge(price, (milligas) => `GModuleOp (MOpFindTransitiveDep ${milligas})`, module.place)
    return this.#complete(measures, dependencies)
  }

  /** An interface keeps all definitions of the modules that it names. */
  #dependenciesOfInterface(): Dependencies {
    const found = new Map<string, Dependency>()
    for (const module of this.#resolved.referenced) {
      for (const [name, measure] of module.image?.measures ?? []) {
        if (!isLoaded(module, name)) continue
        const dependency = { module, name, measure }
        found.set(targetKey(dependency), dependency)
      }
    }
    return found
  }

  #complete(measures: ReadonlyMap<string, DefinitionMeasure>, dependencies: Dependencies): ModuleImage {
    const bytesWith = (weights: SizeWeights) => {
      let bytes = SEVERAL + LIST + sizeOfMeasure(measureFrame(this.#resolved), weights, HASH)
      for (const measure of measures.values()) bytes += sizeOfMeasure(measure, weights, HASH)
      for (const each of dependencies.values()) bytes += dependencySize(each, weights)
      return bytes
    }
    const bytes = bytesWith(this.#weights)
    const networkBytes = this.#weights === NETWORK ? bytes : bytesWith(NETWORK)
    const stored = measureStored(this.#resolved, measures, dependencies, (name) => storedModule(this.#run, name))
    return { measures, dependencies, bytes, networkBytes, stored, surplus: this.#surplus(bytes - networkBytes) }
  }

  /** Milligas of loading that a network would not charge. @param stored bytes that it would not store */
  #surplus(stored: number): number {
    if (this.#weights === NETWORK) return 0
    const more = (withValues: boolean) => this.#sizeOf(withValues) - this.#sizeOf(withValues, NETWORK)
    return COSTS.resolve * more(false) + COSTS.hash * more(true) + COSTS.store * stored
  }

  /**
   * Charges for storing the module with its dependencies.
   * @throws EvalError if the gas does not suffice
   */
  chargeStored({ bytes }: ModuleImage): void {
    this.#charge(COSTS.store, bytes, (size) => `GWrite ${size}`)
  }
}

function dependencySize({ module, name, measure }: Dependency, weights: SizeWeights): number {
  const qualified = ONE + moduleNameSize(moduleNameOf(module.name)) + textSize(name) + HASH
  return ONE + qualified + sizeOfMeasure(measure, weights, HASH)
}
