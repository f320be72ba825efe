/** Rows of the tables of failures: one kind, two wordings. */

/**
 * `SyntaxError`: lexer and parser. `EvalError`: name resolution and execution. `TxFailure`: a refusal by the code
 * itself, the only kind that `try` and `enforce-one` catch.
 */
export type FailureKind = 'SyntaxError' | 'EvalError' | 'TxFailure'

/**
 * A failure in both wordings: `wire` in results of commands, `runner` in test files.
 *
 * `{name}` stands for a value. `{name:20}` cuts it after 20 characters and adds `...`.
 */
export interface FailureRow<W extends string = string, R extends string = string> {
  readonly kind: FailureKind
  readonly wire: W
  readonly runner: R
}

/** An execution error. One wording stands for both. */
export function fatal<const W extends string, const R extends string = W>(wire: W, runner?: R): FailureRow<W, R> {
  return { kind: 'EvalError', wire, runner: runner ?? (wire as unknown as R) }
}

/** A refusal that `try` catches. One wording stands for both. */
export function refusal<const W extends string, const R extends string = W>(wire: W, runner?: R): FailureRow<W, R> {
  return { kind: 'TxFailure', wire, runner: runner ?? (wire as unknown as R) }
}
