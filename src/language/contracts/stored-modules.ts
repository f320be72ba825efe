/** Builds modules without a deploy: from stored data, and from the description of another network. */
import { evalError, NOWHERE, type TextPlace } from './errors.ts'
import { printingLanguage } from './language.ts'
import { Const, type Definition, type Module, type TransactionScope } from './machine/ast.ts'
import { type BlockScope, emptyEnvironment, freeGas, type LanguageRules } from './machine/environment.ts'
import { Evaluator } from './machine/evaluate/evaluator.ts'
import { Expander, type Language } from './machine/expand/expander.ts'
import type { ExpansionProbe } from './machine/expand/probe.ts'
import { importsOf } from './machine/load/imports.ts'
import { ModuleLoader } from './machine/load/module-loader.ts'
import { emptyModule, textHash } from './machine/load/modules.ts'
import { newTransaction } from './machine/scopes.ts'
import { emptyState, Layer, type ReadableState } from './machine/state.ts'
import { syntaxError } from './syntax/lexer.ts'
import { read } from './syntax/reader.ts'
import type { Value } from './values/value.ts'

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
  /** Name of the test file that loaded it; default: none. */
  readonly file?: string | null
  /** Its own constants -> their values at load time. */
  readonly constants: ReadonlyMap<string, Value>
  /** Names of other modules in its text -> the versions that it was loaded with. */
  readonly modules: ReadonlyMap<string, Module>
  /** Names resolved at the top level -> the module of the member. */
  readonly scope: ReadonlyMap<string, Module>
}

export function moduleSource(module: Module): ModuleSource {
  const { code, place, namespace, hash, txHash, file, dependencies, outside, definitions } = module
  const constants = new Map<string, Value>()
  for (const [name, definition] of definitions) {
    if (definition instanceof Const && definition.owner === module) constants.set(name, definition.value)
  }
  return { code, place, namespace, hash, txHash, file, constants, modules: dependencies, scope: outside }
}

/**
 * Rebuilds a module as it was loaded, without permission checks, evaluation, installation or gas.
 * @param rules those of nodes, unless a test file loaded it
 * @param language that of nodes, unless a test file loaded it
 * @param probe follows the code of the module; default: nothing does
 * @throws ContractError if the source does not describe a loadable module
 */
export function reloadModule(
  source: ModuleSource,
  rules: LanguageRules = emptyEnvironment.block.rules,
  language: Language = printingLanguage,
  probe: ExpansionProbe | null = null,
): Module {
  const { code, place, namespace, txHash, file, constants, modules, scope } = source
  const [form] = read(code, place)
  if (form?.form !== 'call') throw syntaxError('a module is expected', place)
  const evaluator = evaluatorWith(language, source, rules, probe)
  const module = emptyModule(form, { code, namespace, txHash })
  module.file = file ?? null
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

/** An evaluator whose code a probe follows. */
class ProbedEvaluator extends Evaluator {
  override readonly probe: ExpansionProbe

  constructor(language: Language, block: BlockScope, transaction: TransactionScope, probe: ExpansionProbe) {
    super(language, block, transaction)
    this.probe = probe
  }
}

/** An evaluator that sees only the modules of the source. */
function evaluatorWith(
  language: Language,
  { namespace, modules }: ModuleSource,
  rules: LanguageRules,
  probe: ExpansionProbe | null,
): Evaluator {
  const state = new Layer({
    ...emptyState,
    get: <T>(domain: string, key: string) => (domain === 'modules' ? (modules.get(key) as T | undefined) : undefined),
  })
  const block = { ...emptyEnvironment.block, rules }
  const transaction = newTransaction(emptyEnvironment.message, state, freeGas())
  const evaluator = followedEvaluator(block, transaction, language, probe)
  evaluator.program.namespace = namespace
  return evaluator
}

function followedEvaluator(
  block: BlockScope,
  transaction: TransactionScope,
  language: Language,
  probe: ExpansionProbe | null,
): Evaluator {
  return probe === null
    ? new Evaluator(language, block, transaction)
    : new ProbedEvaluator(language, block, transaction, probe)
}

function memberOf(owner: Module, name: string, place: TextPlace): Definition {
  const definition = owner.get(name)
  if (definition === undefined) throw evalError(`Module ${owner.name} has no such member: ${name}`, place)
  return definition
}

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
 * @param probe follows the code of the module; default: nothing does
 * @throws ContractError if the text does not load
 * @throws MissingEntry if the state has to fetch a module that the text names
 */
export function linkModule(
  { code, place, namespace, hash, txHash, constants, imports }: DescribedModule,
  state: ReadableState,
  rules: LanguageRules = emptyEnvironment.block.rules,
  probe: ExpansionProbe | null = null,
): Module {
  const [form] = read(code, place)
  if (form?.form !== 'call') throw syntaxError('a module is expected', place)
  const { block, message } = emptyEnvironment
  const transaction = newTransaction(message, new Layer(state), freeGas())
  const evaluator = followedEvaluator({ ...block, rules }, transaction, printingLanguage, probe)
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
