/**
 * Failures of commands, in three kinds. Results on the wire carry kind, message and place; clients match on the
 * messages.
 */

import type { FailureKind } from './failures/row.ts'
import { runnerWording } from './failures/wording.ts'

export type { FailureKind }

/** Position in a text; line and column count from 0. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** Place of calls that no source text contains. */
export const NOWHERE: TextPlace = { line: 0, column: 0 }

/** A text, or a function that makes it when it is read: texts with values can be long. */
type Text = string | (() => string)

export class ContractError extends Error {
  readonly kind: FailureKind
  /** Position in the text of the form that failed, or null if the failure is in no text. */
  place: TextPlace | null
  /** Function that failed, as `module.function.{hash}`, or null at the top level. */
  within: string | null = null
  /** Test file that failed, or null outside of tests. */
  file: string | null = null
  readonly #text: Text
  readonly #wireText: Text

  constructor(kind: FailureKind, text: Text, place: TextPlace | null = null, wireText: Text = text) {
    // Skip the JavaScript stack trace: contracts can fail very often, and capturing it would take most of the time.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super()
    Error.stackTraceLimit = stackTraceLimit
    this.kind = kind
    this.#text = text
    this.#wireText = wireText
    this.place = place
  }

  /** Message in test files. An execution error with one text says it in the wording of live nodes. */
  override get message(): string {
    if (typeof this.#text === 'function') return this.#text()
    return this.kind === 'EvalError' && this.#text === this.#wireText ? runnerWording(this.#text) : this.#text
  }

  /** Message in results of commands. Live nodes and test files word some errors differently. */
  get wireMessage(): string {
    return typeof this.#wireText === 'function' ? this.#wireText() : this.#wireText
  }
}

/** An execution error, which no form of the language catches. */
export function evalError(message: string, place: TextPlace | null = null, wireMessage = message): ContractError {
  return new ContractError('EvalError', message, place, wireMessage)
}

/** A refusal by contract code, which `try` catches. */
export function txFailure(message: string, place: TextPlace | null = null, wireMessage = message): ContractError {
  return new ContractError('TxFailure', message, place, wireMessage)
}
