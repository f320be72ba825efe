/** Goes through the parts of a form in order, and says what is expected where something else stands. */
import type { ContractError, TextPlace } from '../errors.ts'
import type { Atom, CallForm, Form, ListForm, StringForm } from './form.ts'
import { syntaxError } from './lexer.ts'
import { isIdentifier, isWord } from './names.ts'

/** @param what description of what may stand there */
export function expectedError(what: string, place: TextPlace): ContractError {
  return syntaxError(`Expected: [${what}]`, place)
}

export class FormParts {
  readonly call: CallForm
  #at: number

  /** @param from index of the first part to go through */
  constructor(call: CallForm, from = 1) {
    this.call = call
    this.#at = from
  }

  /** Number of parts that are left. */
  get left(): number {
    return this.call.items.length - this.#at
  }

  peek(ahead = 0): Form | undefined {
    return this.call.items[this.#at + ahead]
  }

  /** @throws ContractError (SyntaxError) if no part is left */
  take(what: string): Form {
    const form = this.peek()
    if (form === undefined) throw this.missingError(what)
    this.#at++
    return form
  }

  /** Takes all parts that are left. */
  rest(): readonly Form[] {
    const rest = this.call.items.slice(this.#at)
    this.#at = this.call.items.length
    return rest
  }

  /**
   * Takes a word of the grammar if it is next.
   * @returns whether it was
   */
  skip(word: string): boolean {
    if (!isWord(this.peek(), word)) return false
    this.#at++
    return true
  }

  /**
   * Takes a bare name, with or without a type.
   * @throws ContractError (SyntaxError) if something else is next
   */
  identifier(what: string): Atom {
    const form = this.take(what)
    if (!isIdentifier(form)) throw expectedError(what, form.place)
    return form
  }

  /** @throws ContractError (SyntaxError) if something else is next */
  string(what: string): StringForm {
    const form = this.take(what)
    if (form.form !== 'string') throw expectedError(what, form.place)
    return form
  }

  /** @throws ContractError (SyntaxError) if something else is next */
  list(what: string): ListForm {
    const form = this.take(what)
    if (form.form !== 'list') throw expectedError(what, form.place)
    return form
  }

  /**
   * Takes a pair of parentheses.
   * @throws ContractError (SyntaxError) if something else is next
   */
  parentheses(what: string): CallForm {
    const form = this.take(what)
    if (form.form !== 'call') throw expectedError(what, form.place)
    return form
  }

  /** @throws ContractError (SyntaxError) if a part is left */
  end(): void {
    const form = this.peek()
    if (form !== undefined) throw expectedError("')'", form.place)
  }

  missingError(what: string): ContractError {
    return expectedError(what, (this.call.items.at(-1) ?? this.call).place)
  }
}
