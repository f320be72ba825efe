/**
 * Repairs brackets that do not match, so that the rest of a file can be read. Indentation shows where a form should have
 * ended: a definition at the beginning of a line is a member of the module around it.
 */
import { notClosed, type Token, type TokenKind } from '../../contracts/syntax/reader.ts'
import type { CodeFinding } from './spans.ts'

const CLOSING: Readonly<Record<string, TokenKind>> = { '(': ')', '[': ']', '{': '}' }
const CLOSERS: ReadonlySet<string> = new Set(')]}')
const MODULES: ReadonlySet<string> = new Set(['module', 'interface'])
/** Words that begin a member of a module. */
export const MEMBER_WORDS: ReadonlySet<string> = new Set([
  'defun',
  'defcap',
  'defpact',
  'defconst',
  'defschema',
  'deftable',
  'use',
  'implements',
  'bless',
])

export interface BalancedTokens {
  readonly tokens: readonly Token[]
  readonly findings: readonly CodeFinding[]
}

/** @param tokens the last one is of kind `end` */
export function balance(tokens: readonly Token[]): BalancedTokens {
  return isBalanced(tokens) ? { tokens, findings: [] } : new BracketBalancer(tokens).run()
}

function isBalanced(tokens: readonly Token[]): boolean {
  const open: TokenKind[] = []
  for (const { kind } of tokens) {
    if (kind in CLOSING) open.push(CLOSING[kind])
    else if (CLOSERS.has(kind) && open.pop() !== kind) return false
  }
  return open.length === 0
}

class BracketBalancer {
  readonly #tokens: readonly Token[]
  readonly #result: Token[] = []
  readonly #findings: CodeFinding[] = []
  readonly #open: { readonly token: Token; readonly head: string }[] = []

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  run(): BalancedTokens {
    this.#tokens.forEach((token, index) => {
      if (token.kind === '(' && this.#isFirstOnLine(index)) this.#dedent(token, this.#headOf(index))
      if (token.kind in CLOSING) {
        this.#open.push({ token, head: this.#headOf(index) })
        this.#result.push(token)
      } else if (CLOSERS.has(token.kind)) this.#close(token, index)
      else {
        if (token.kind === 'end') this.#closeDownTo(0, token)
        this.#result.push(token)
      }
    })
    return { tokens: this.#result, findings: this.#findings }
  }

  #headOf(index: number): string {
    const next = this.#tokens[index + 1]
    return next?.kind === 'name' ? next.text : ''
  }

  #isFirstOnLine(index: number): boolean {
    return index === 0 || this.#tokens[index - 1].place.line < this.#tokens[index].place.line
  }

  /** Closes what a form at the beginning of a line cannot be a part of. */
  #dedent(token: Token, head: string): void {
    const isModule = MODULES.has(head)
    const isMember = MEMBER_WORDS.has(head)
    if (!isModule && !isMember && token.place.column > 0) return
    const around = this.#open[0]?.head ?? ''
    if (isModule || (!isMember && token.place.column === 0)) this.#closeDownTo(0, token)
    else if (MODULES.has(around)) this.#closeDownTo(1, token)
    else if (token.place.column === 0) this.#closeDownTo(0, token)
  }

  /** Closes brackets, and reports the innermost of them: one missing bracket leaves all around it open too. */
  #closeDownTo(depth: number, before: Token): void {
    const innermost = this.#open.at(-1)
    if (innermost === undefined || this.#open.length <= depth) return
    const { message } = notClosed(innermost.token, CLOSING[innermost.token.kind], before.place)
    this.#findings.push({ severity: 'error', code: 'syntax', message, ...rangeOf(innermost.token) })
    for (let last = this.#open.pop(); last !== undefined; last = this.#open.pop()) {
      const kind = CLOSING[last.token.kind]
      const { to } = this.#result.at(-1) ?? last.token
      // A place of its own: errors lead back to the token by it.
      this.#result.push({ kind, text: kind, place: { ...before.place }, from: to, to })
      if (this.#open.length <= depth) return
    }
  }

  #close(token: Token, index: number): void {
    const depth = this.#open.findLastIndex(({ token: open }) => CLOSING[open.kind] === token.kind)
    if (depth < 0 || (depth === 0 && this.#endsTooEarly(index))) {
      this.#findings.push({
        severity: 'error',
        code: 'syntax',
        message: `Unexpected input: ${token.kind}`,
        ...rangeOf(token),
      })
      return
    }
    this.#closeDownTo(depth + 1, token)
    this.#open.pop()
    this.#result.push(token)
  }

  /** True for the bracket that would close a module in front of a further member of it. */
  #endsTooEarly(index: number): boolean {
    const [{ token: module, head }] = this.#open
    const next = this.#tokens[index + 1]
    return (
      MODULES.has(head) &&
      next.kind === '(' &&
      this.#isFirstOnLine(index + 1) &&
      next.place.column > module.place.column &&
      MEMBER_WORDS.has(this.#headOf(index + 1))
    )
  }
}

function rangeOf({ from, to }: Token) {
  return { from, to }
}
