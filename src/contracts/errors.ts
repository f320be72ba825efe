/** What goes wrong in a command: three kinds with texts that clients match on (the wire shows kind, message and place). */

/**
 * `SyntaxError`: lexer and parser. `EvalError`: name resolution and execution. `TxFailure`: what the code itself refuses,
 * the only kind that `try` and `enforce-one` catch.
 */
export type FailureKind = 'SyntaxError' | 'EvalError' | 'TxFailure'

/** Where in a text: both count from 0. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** What is called by no text. */
export const NOWHERE: TextPlace = { line: 0, column: 0 }

export class ContractError extends Error {
  readonly kind: FailureKind
  /** The text in results of commands: live nodes and test files have different ones for some errors. */
  readonly wireMessage: string
  /** In the text of the form that failed; null: not in any. */
  place: TextPlace | null
  /** The function that failed, `module.function.{hash}`; null: at the top level. */
  within: string | null = null
  /** The test file that failed. */
  file: string | null = null

  constructor(kind: FailureKind, message: string, place: TextPlace | null = null, wireMessage = message) {
    // Code may fail very often: finding the calls of JavaScript would take most of the time, and tells nobody anything.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.kind = kind
    this.wireMessage = wireMessage
    this.place = place
  }
}

/** An error of execution, which nothing in the language catches. */
export function evalError(message: string, place: TextPlace | null = null, wireMessage = message): ContractError {
  return new ContractError('EvalError', message, place, wireMessage)
}

/** A refusal by the code, which `try` catches. */
export function txFailure(message: string, place: TextPlace | null = null, wireMessage = message): ContractError {
  return new ContractError('TxFailure', message, place, wireMessage)
}
