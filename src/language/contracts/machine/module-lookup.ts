/** Look-ups of modules, and what a program remembers of them. */
import type { TextPlace } from '../errors.ts'
import type { CostName } from './gas/cost-names.ts'

/** Modules that a program has looked up or loaded (loaded-modules.ts). */
export interface LoadedModules<Module> {
  /** Number of different definitions, those of dependencies included. */
  readonly size: number
  /** Number of different definitions with these members of a module, some of which may be loaded already. */
  sizeWith(module: Module, members: Iterable<string>): number
  /** Number of members that `use` has imported, repeated ones included. */
  imported: number
  /** Notes that a module was looked up. @param payer pays if it was not loaded before */
  noteLookup(module: Module, by: ModuleLookup, payer: ChargedRun, place?: TextPlace): void
  /** Adds a module that the program itself loads. */
  add(module: Module): void
  /** Another set with the same modules. Later changes of one are not seen in the other. */
  fork(): LoadedModules<Module>
}

export interface ChargedRun {
  charge(milligas: number, name?: CostName, place?: TextPlace): void
}

/** Reason of a look-up: a name in code, or code that runs. */
export type ModuleLookup = 'name' | 'running'
