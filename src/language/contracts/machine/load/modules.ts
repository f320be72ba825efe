/**
 * Loads modules and interfaces, checks permissions and stores them.
 *
 * 1. The governance of the version before agrees, or the namespace of a new module.
 * 2. Its members are declared, then completed, because they name each other in any order.
 * 3. Gas is charged for the resolved code, and constants are evaluated.
 * 4. The hash is computed. Constants of the module saw a placeholder.
 * 5. The keyset of the new version agrees, and the module is stored with its dependencies.
 * 6. Upgrades of other modules do not change it, and its own upgrade does not change modules that were loaded with it.
 */
import { evalError } from '../../errors.ts'
import type { Atom, CallForm } from '../../syntax/form.ts'
import { syntaxError } from '../../syntax/lexer.ts'
import { hashText } from '../../values/hash.ts'
import { type Definition, Module, type Run } from '../ast.ts'
import type { ExpandingRun } from '../expand/expander.ts'
import { isVisible } from '../expand/resolver.ts'
import { PRICE, parsePrice } from '../gas/prices.ts'
import { storedModule } from '../loaded-modules.ts'
import { acquireAdmin, enforceGuard } from '../rights/guards.ts'
import { withLanguageCapability } from '../rights/language-capabilities.ts'
import type { Namespace } from '../state.ts'
import { PLACEHOLDERS } from './module-hash/hash-text.ts'
import type { ImageLoader } from './module-hash/image.ts'
import { definitionName, ModuleLoader } from './module-loader.ts'

/** Work of each definition that is loaded when a module is replaced. */
const FORK_WORK = 20

/**
 * Loads and installs the module of a form.
 * @param code source text of the form
 * @throws ContractError if the command may not load the module, or it does not load
 */
export function loadModule(run: ExpandingRun, form: CallForm, code: string): Module {
  if (run.program.loading !== null) throw syntaxError('a module cannot be within a module', form.place)
  const { namespace } = run.program
  const module = emptyModule(form, { code, namespace, txHash: run.transaction.message.hash })
  module.file = run.block.file ?? null
  authorize(run, module)
  run.program.loading = module
  let image: ImageLoader
  try {
    image = new ModuleLoader(run, module).load(form)
  } finally {
    run.program.loading = null
  }
  const hash = image.hash()
  module.hash = run.block.rules.areHashesOfText ? textHash(module) : hash
  install(run, module, image)
  return module
}

/** Hash of a module in data directories from before the hashes of the network. */
export function textHash({ namespace, code }: Pick<Module, 'namespace' | 'code'>): string {
  return hashText(`${namespace ?? ''}|${code}`)
}

/**
 * Creates the module of a form, without members and with a placeholder for its hash.
 * @throws ContractError (SyntaxError) if it has no name
 */
export function emptyModule(form: CallForm, about: Pick<Module, 'code' | 'namespace' | 'txHash'>): Module {
  const [head, name] = form.items
  if (name?.form !== 'atom') throw syntaxError('a module has a name', form.place)
  const { namespace } = about
  const isInterface = (head as Atom).name === 'interface'
  return new Module({
    ...about,
    name: namespace === null ? name.name : `${namespace}.${name.name}`,
    isInterface,
    hash: isInterface ? PLACEHOLDERS.interface : PLACEHOLDERS.module,
    place: form.place,
  })
}

/**
 * Adds a definition to the pseudo-module of a test file, whose top level may define functions.
 * @returns the definition
 * @throws ContractError if it does not load
 */
export function defineOutside(run: ExpandingRun, module: Module, form: CallForm): Definition | undefined {
  const { name: defined } = definitionName(form)
  module.definitions.delete(defined)
  for (const [name, definition] of run.program.imports) module.imports.set(name, definition)
  new ModuleLoader(run, module).add([form])
  for (const [name, definition] of module.definitions) run.program.imports.set(name, definition)
  return module.definitions.get(defined)
}

/**
 * Enforces the governance of the version before, or the rules of the namespace for a new module.
 * @throws ContractError if the command may not load the module
 */
function authorize(run: Run, module: Module): void {
  const before = storedModule(run, module.name)
  if (before === undefined) enterNamespace(run, module)
  else if (module.isInterface) throw evalError(`Interface cannot be upgraded: ${module.name}`, module.place)
  else if (before.isInterface) throw evalError(`Expected module, found interface: ${module.name}`, module.place)
  else askGovernance(run, before)
}

/** Asks the version before. As on the network, the program then forgets this version, and all that was read for it. */
function askGovernance(run: Run, before: Module): void {
  const { loaded } = run.program
  run.work(FORK_WORK * loaded.size)
  run.program.loaded = loaded.fork()
  run.noteLookup(before, 'running')
  if ('keyset' in before.governance) {
    const { keyset } = before.governance
    // The network asks in code: (enforce-guard (keyset-ref-guard "NAME")).
    run.charge(2 * PRICE.guard + parsePrice(keyset))
    enforceOwner(run, before.name, keyset)
  } else acquireAdmin(run, before)
  run.program.loaded = loaded
}

/** The keyset that governs a module agrees, even if the command is administrator. */
function enforceOwner(run: Run, module: string, keyset: string): void {
  withLanguageCapability(run, 'MODULE_KEYSET', module, () => enforceGuard(run, keyset))
}

/** Enforces the keyset of the new version, and stores the module. */
function install(run: Run, module: Module, loader: ImageLoader): void {
  const { governance, name } = module
  if ('keyset' in governance && !module.isInterface) enforceOwner(run, name, governance.keyset)
  module.image = loader.image()
  loader.chargeStored(module.image)
  run.transaction.state.put('modules', module.name, module)
  run.program.loaded.add(module)
  if (!module.isInterface) run.transaction.admin.add(module.name)
  for (const [name, definition] of module.definitions) {
    if (isVisible(definition)) run.program.imports.set(name, definition)
  }
}

function enterNamespace(run: Run, module: Module): void {
  if (module.namespace === null) {
    if (run.block.rules.isRootOpen) return
    throw evalError('Namespace installation failed. Cannot install modules in the root namespace.')
  }
  const namespace = run.transaction.state.get<Namespace>('namespaces', module.namespace)
  if (namespace === undefined) throw evalError(`Namespace not found: ${module.namespace}`)
  withLanguageCapability(run, 'NAMESPACE', module.namespace, () => enforceGuard(run, namespace.user))
}
