/** Observer of expanded code, which follows what runs. Code that is expanded without one pays nothing. */
import type { CallForm, Form } from '../../syntax/form.ts'
import type { Expr, Module } from '../ast.ts'

/** Names of local variables, innermost first, parallel to `Env`. */
export interface Scope {
  readonly name: string
  readonly up: Scope | null
}

/** Where a form is expanded. */
export interface FormSite {
  /** The module that contains the form, or null at the top level. */
  readonly module: Module | null
  /** Names that the form can use. */
  readonly scope: Scope | null
}

export interface ExpansionProbe {
  /** The members of a module are declared next. */
  beginModule(form: CallForm, module: Module): void
  /**
   * Expands a form.
   * @returns its expression, with what follows its evaluations
   */
  instrument(form: Form, site: FormSite, expand: () => Expr): Expr
}
