/** Cursor over the tokens of a program. */
import type { ContractError } from '../errors.ts'
import { notClosed, spellToken, syntaxError, type Token, type TokenKind } from './lexer.ts'

/** Maximum nesting of brackets, so that recursive readers stay within the stack. Values have the same limit. */
const MAX_DEPTH = 250

export class Cursor {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  /** @param tokens the last one is of kind `end` */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** The next token, without taking it. */
  peek(): Token {
    return this.#tokens[this.#at]
  }

  /** Takes the next token; `end` stays. */
  take(): Token {
    const token = this.peek()
    if (token.kind !== 'end') this.#at++
    return token
  }

  /**
   * Takes the next token if it is of this kind.
   * @returns whether it did
   */
  skip(kind: TokenKind): boolean {
    if (this.peek().kind !== kind) return false
    this.#at++
    return true
  }

  /**
   * Takes a token of this kind.
   * @throws ContractError (SyntaxError) if the next token is of another kind
   */
  expect(kind: TokenKind): Token {
    if (this.peek().kind !== kind) throw syntaxError(`Expected: [${spellToken(kind)}]`, this.peek().place)
    return this.take()
  }

  /**
   * Takes the bracket that closes another one. The error in test files also names the line of the opening bracket.
   * @throws ContractError (SyntaxError) if the next token is another one
   */
  close(open: Token, kind: TokenKind): Token {
    if (this.peek().kind === kind) return this.take()
    throw notClosed(open, kind, this.peek().place)
  }

  /** @returns the error for an unexpected next token */
  unexpectedError(): ContractError {
    const { kind, text, place } = this.peek()
    return syntaxError(kind === 'end' ? 'Unexpected end of input' : `Unexpected input: ${text.slice(0, 40)}`, place)
  }

  /**
   * Reads the content of a pair of brackets, after the opening one.
   * @throws ContractError (SyntaxError) beyond the maximum nesting
   */
  readNested<T>(read: () => T): T {
    if (this.#depth >= MAX_DEPTH) throw syntaxError(`Nested more than ${MAX_DEPTH} deep`, this.peek().place)
    this.#depth++
    const result = read()
    this.#depth--
    return result
  }
}
