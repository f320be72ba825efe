/** Builds modules of another network from what it tells of them: their texts, hashes and the values of constants. */
import { NOWHERE, type TextPlace } from '../../errors.ts'
import { read } from '../../syntax/reader.ts'
import type { Value } from '../../values/value.ts'
import type { Module } from '../ast.ts'
import { emptyEnvironment, freeGas, type LanguageRules } from '../environment.ts'
import { Evaluator } from '../evaluate/evaluator.ts'
import { Expander, type Language, syntaxError } from '../expand/expander.ts'
import { newTransaction } from '../scopes.ts'
import { Layer, type ReadableState } from '../state.ts'
import { importsOf } from './imports.ts'
import { ModuleLoader } from './module-loader.ts'
import { emptyModule } from './modules.ts'

/** A module as another network describes it. */
export interface DescribedModule {
  readonly code: string
  /** Position of the module in the text that deployed it; `NOWHERE` if that is not known. */
  readonly place: TextPlace
  readonly namespace: string | null
  readonly hash: string
  readonly txHash: string
  /** Its constants -> their values when it was deployed. */
  readonly constants: ReadonlyMap<string, Value>
  /** Forms before the module in the text that deployed it, such as `(use coin)`; empty if there are none. */
  readonly imports: string
}

/**
 * Builds a module without checks of permission, evaluation of constants or gas. It keeps the hash that it is given, and
 * is linked with the versions of other modules in the state.
 * @throws ContractError if the text does not load
 * @throws MissingEntry if the state has to fetch a module that the text names
 */
export function linkModule(
  language: Language,
  { code, place, namespace, hash, txHash, constants, imports }: DescribedModule,
  state: ReadableState,
  rules: LanguageRules = emptyEnvironment.block.rules,
): Module {
  const [form] = read(code, place)
  if (form?.form !== 'call') throw syntaxError('a module is expected', place)
  const { block, message } = emptyEnvironment
  const evaluator = new Evaluator(language, { ...block, rules }, newTransaction(message, new Layer(state), freeGas()))
  evaluator.program.namespace = namespace
  for (const each of read(imports, NOWHERE)) {
    if (each.form !== 'call') continue
    const names = importsOf(new Expander(evaluator, null), each)
    for (const [name, definition] of names) evaluator.program.imports.set(name, definition)
  }
  const module = emptyModule(form, { code, namespace, txHash })
  const image = new ModuleLoader(evaluator, module, constants).load(form)
  module.hash = hash
  module.image = image.image()
  return module
}
