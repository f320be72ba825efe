/** Checks of code that does not run: its forms and names, circles of members, and whether its modules load. */
import { ContractError } from './errors.ts'
import { language } from './language.ts'
import { emptyEnvironment } from './machine/environment.ts'
import { Evaluator } from './machine/evaluate/evaluator.ts'
import { isVisible } from './machine/expand/resolver.ts'
import { ModuleLoader } from './machine/load/module-loader.ts'
import { emptyModule } from './machine/load/modules.ts'
import { newTransaction } from './machine/scopes.ts'
import { Layer } from './machine/state.ts'
import type { CallForm } from './syntax/form.ts'

export { checkForm } from './machine/expand/form-rules.ts'
export {
  nativeOfTests,
  noSuchImports,
  noSuchMember,
  noSuchModule,
  SHADOW_ADVICE,
} from './machine/expand/load-errors.ts'
export { shadowsIn } from './machine/expand/shadows.ts'
export { refuseCycles } from './machine/load/cycles.ts'

/** Loads modules one after another, as a network would, without a deploy: no permission is asked. */
export class ModuleTrial {
  readonly #gas: { used: number; readonly limit: number; work: number }
  readonly #evaluator: Evaluator

  /** @param limit maximum milligas of all its modules together: a constant may compute for long */
  constructor(limit: number) {
    this.#gas = { used: 0, limit, work: 0 }
    const { block, message } = emptyEnvironment
    this.#evaluator = new Evaluator(language, block, newTransaction(message, new Layer(), this.#gas))
  }

  /** True once the modules have used up the gas: a refusal may then have this reason alone. */
  get isSpent(): boolean {
    const { used, limit, work } = this.#gas
    return used > limit || work > limit
  }

  /**
   * Loads a module, which later ones may name.
   * @returns the failure that a network would report, or null
   */
  load(form: CallForm, namespace: string | null): ContractError | null {
    const evaluator = this.#evaluator
    const { program } = evaluator
    program.namespace = namespace
    const module = emptyModule(form, { code: '', namespace, txHash: '' })
    program.loading = module
    try {
      const image = new ModuleLoader(evaluator, module).load(form)
      module.hash = image.hash()
      module.image = image.image()
      evaluator.transaction.state.put('modules', module.name, module)
      for (const [name, definition] of module.definitions) {
        if (isVisible(definition)) program.imports.set(name, definition)
      }
      return null
    } catch (error) {
      if (error instanceof ContractError) return error
      throw error
    } finally {
      program.loading = null
      evaluator.call.depth = 0
    }
  }
}
