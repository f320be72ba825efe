/** Observer of expanded code, which counts what runs. Code that is expanded without one pays nothing. */
import type { CallForm, Form } from '../../syntax/form.ts'
import type { Expr, Module } from '../ast.ts'

export interface ExpansionProbe {
  /** The members of a module are declared next. */
  beginModule(form: CallForm, module: Module): void
  /**
   * Expands a form of a module.
   * @returns its expression, with what counts its evaluations
   */
  instrument(form: Form, module: Module, expand: () => Expr): Expr
}
