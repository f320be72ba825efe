/**
 * Failures of commands, in three kinds. Results on the wire carry kind, message and place; clients match on the
 * messages.
 */

import { StacklessError } from '#ground/base/errors.ts'
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
type LazyText = string | (() => string)

/** Where code failed. */
interface FailureLocation {
  /** Position in the text of the form that failed, or null if the failure is in no text. */
  readonly place: TextPlace | null
  /** Function that failed, as `module.function.{hash}`, or null at the top level. */
  readonly within: string | null
  /** Test file that failed, or null outside of tests. */
  readonly file: string | null
}

/**
 * A failure of contract code.
 *
 * 1. The code that finds the fault throws it, with the place if it knows one.
 * 2. `try` and `enforce-one` catch a TxFailure, and drop it.
 * 3. At the end of its top-level form, it gets the place of the innermost call and the function (`addLocation`).
 * 4. A test file adds its name. A command of a block makes its result of kind, wire message and place.
 */
export class ContractError extends StacklessError implements FailureLocation {
  readonly kind: FailureKind
  readonly #text: LazyText
  readonly #wireText: LazyText
  #place: TextPlace | null
  #within: string | null = null
  #file: string | null = null

  constructor(kind: FailureKind, text: LazyText, place: TextPlace | null = null, wireText: LazyText = text) {
    super()
    this.kind = kind
    this.#text = text
    this.#wireText = wireText
    this.#place = place
  }

  get place(): TextPlace | null {
    return this.#place
  }

  get within(): string | null {
    return this.#within
  }

  get file(): string | null {
    return this.#file
  }

  /** Adds where the code failed, except for what is known already. */
  addLocation({ place = null, within = null, file = null }: Partial<FailureLocation>): void {
    this.#place ??= place
    this.#within ??= within
    this.#file ??= file
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
