/** Rebuilds loaded modules from stored data: their source text and their external references at load time. */
import { evalError, type TextPlace } from '../../errors.ts'
import { read } from '../../syntax/reader.ts'
import type { Value } from '../../values/value.ts'
import { Const, type Definition, type Module } from '../ast.ts'
import { emptyEnvironment, freeGas, type LanguageRules } from '../environment.ts'
import { Evaluator } from '../evaluate/evaluator.ts'
import { type Language, syntaxError } from '../expand/expander.ts'
import { newTransaction } from '../scopes.ts'
import { emptyState, Layer } from '../state.ts'
import { ModuleLoader } from './module-loader.ts'
import { emptyModule, textHash } from './modules.ts'

/** Everything needed to rebuild a module. */
export interface ModuleSource {
  /** Source text of its form. `place` is its position in the text of the command. */
  readonly code: string
  readonly place: TextPlace
  readonly namespace: string | null
  /** Hash of the module; absent in data from before the hashes of the network. */
  readonly hash?: string
  /** Hash of the command that loaded it. */
  readonly txHash: string
  /** Its own constants -> their values at load time. */
  readonly constants: ReadonlyMap<string, Value>
  /** Names of other modules in its text -> the versions that it was loaded with. */
  readonly modules: ReadonlyMap<string, Module>
  /** Names resolved at the top level -> the module of the member. */
  readonly scope: ReadonlyMap<string, Module>
}

export function sourceOf(module: Module): ModuleSource {
  const { code, place, namespace, hash, txHash, dependencies, outside, definitions } = module
  const constants = new Map<string, Value>()
  for (const [name, definition] of definitions) {
    if (definition instanceof Const && definition.owner === module) constants.set(name, definition.value)
  }
  return { code, place, namespace, hash, txHash, constants, modules: dependencies, scope: outside }
}

/**
 * Rebuilds a module as it was loaded, without permission checks, evaluation, installation or gas.
 * @param rules those of nodes, unless a test file loaded it
 * @throws ContractError if the source does not describe a loadable module
 */
export function reloadModule(
  language: Language,
  source: ModuleSource,
  rules: LanguageRules = emptyEnvironment.block.rules,
): Module {
  const { code, place, namespace, txHash, constants, modules, scope } = source
  const [form] = read(code, place)
  if (form?.form !== 'call') throw syntaxError('a module is expected', place)
  const evaluator = evaluatorWith(language, source, rules)
  const module = emptyModule(form, { code, namespace, txHash })
  for (const [name, dependency] of modules) module.dependencies.set(name, dependency)
  for (const [name, owner] of scope) {
    module.outside.set(name, owner)
    evaluator.program.imports.set(name, memberOf(owner, name, place))
  }
  const image = new ModuleLoader(evaluator, module, constants).load(form)
  module.hash = source.hash ?? textHash(source)
  module.image = image.image()
  return module
}

/** An evaluator that sees only the modules of the source. */
function evaluatorWith(language: Language, { namespace, modules }: ModuleSource, rules: LanguageRules): Evaluator {
  const state = new Layer({
    ...emptyState,
    get: <T>(domain: string, key: string) => (domain === 'modules' ? (modules.get(key) as T | undefined) : undefined),
  })
  const { block, message } = emptyEnvironment
  const evaluator = new Evaluator(language, { ...block, rules }, newTransaction(message, state, freeGas()))
  evaluator.program.namespace = namespace
  return evaluator
}

function memberOf(owner: Module, name: string, place: TextPlace): Definition {
  const definition = owner.get(name)
  if (definition === undefined) throw evalError(`Module ${owner.name} has no such member: ${name}`, place)
  return definition
}
