/** A text as nested brackets with its comments, for the printer. */
import type { Token, TokenKind } from '../../contracts/syntax/reader.ts'
import type { ParsedFile } from '../text/parsed-file.ts'

interface PieceLines {
  /** Lines in the source, from 0. */
  readonly firstLine: number
  readonly lastLine: number
  /** A comma follows it. */
  hasComma: boolean
}

/** A name, number, string, or a text that stays as it is. */
export interface LeafPiece extends PieceLines {
  readonly piece: 'leaf'
  readonly text: string
}

export interface CommentPiece extends PieceLines {
  readonly piece: 'comment'
  readonly text: string
}

/** `"field": value` or `"field" := value` */
export interface PairPiece extends PieceLines {
  readonly piece: 'pair'
  /** Field and colon. */
  readonly key: string
  readonly value: FormatNode
}

export interface GroupPiece extends PieceLines {
  readonly piece: 'group'
  readonly open: string
  readonly close: string
  /** True for braces with spaces inside. */
  readonly isPadded: boolean
  readonly items: readonly FormatNode[]
}

export type FormatNode = LeafPiece | CommentPiece | PairPiece | GroupPiece

const CLOSING: Readonly<Record<string, TokenKind>> = { '(': ')', '[': ']', '{': '}' }
/** Types with a name in braces. */
const BRACED: ReadonlySet<string> = new Set(['object', 'table', 'module'])

/** @param parsed a file without errors */
export function textPieces(parsed: ParsedFile): FormatNode[] {
  return new TreeBuilder(parsed).items(null)
}

class TreeBuilder {
  readonly #parsed: ParsedFile
  #token = 0
  #comment = 0

  constructor(parsed: ParsedFile) {
    this.#parsed = parsed
  }

  /** Takes all pieces up to a closing bracket, or to the end. */
  items(close: TokenKind | null): FormatNode[] {
    const items: FormatNode[] = []
    for (;;) {
      const comment = this.#takeComment()
      const { kind } = this.#peek()
      if (comment !== null) items.push(comment)
      else if (kind === 'end' || kind === close) return items
      else if (kind === ',') {
        const last = items.findLast(({ piece }) => piece !== 'comment')
        if (last !== undefined) last.hasComma = true
        this.#token++
      } else items.push(this.#piece(items.at(-1)))
    }
  }

  #peek(ahead = 0): Token {
    const { tokens } = this.#parsed
    return tokens[Math.min(this.#token + ahead, tokens.length - 1)]
  }

  /** Takes the comment in front of the next token, if there is one. */
  #takeComment(): CommentPiece | null {
    const comment = this.#parsed.comments[this.#comment]
    if (comment === undefined || comment.from > this.#peek().from) return null
    this.#comment++
    const line = this.#parsed.lines.lineOf(comment.from)
    const text = this.#parsed.text.slice(comment.from, comment.to).trimEnd()
    return { piece: 'comment', text, firstLine: line, lastLine: line, hasComma: false }
  }

  #piece(before: FormatNode | undefined): FormatNode {
    const token = this.#peek()
    if (token.kind in CLOSING) {
      return before?.piece === 'leaf' && before.text === '@model' ? this.#verbatim(token) : this.#group(token)
    }
    this.#token++
    const next = this.#peek()
    if ((token.kind === 'string' || token.kind === 'symbol') && (next.kind === ':' || next.kind === ':=')) {
      return this.#pair(token, next)
    }
    if (token.kind === 'name') {
      if (next.kind === '::') this.#token += 2
      if (this.#peek().kind === ':') this.#type()
    }
    return this.#leaf(token, this.#previous())
  }

  #previous(): Token {
    return this.#parsed.tokens[this.#token - 1]
  }

  /** Takes a colon and the type after it. */
  #type(): void {
    this.#token++
    const { kind, text } = this.#peek()
    if (kind in CLOSING) this.#skipGroup()
    else {
      this.#token++
      if (BRACED.has(text) && this.#peek().kind === '{') this.#skipGroup()
    }
  }

  #skipGroup(): void {
    let depth = 0
    do {
      const { kind } = this.#peek()
      if (kind in CLOSING) depth++
      else if (kind === ')' || kind === ']' || kind === '}') depth--
      this.#token++
    } while (depth > 0 && this.#peek().kind !== 'end')
  }

  /** A text that consists of several tokens. White space goes, unless there is a comment or a string within. */
  #leaf(first: Token, last: Token): LeafPiece {
    const source = this.#parsed.text.slice(first.from, last.to)
    const comments = this.#commentsUntil(last.to)
    const isPlain = first.kind === 'name' && !comments
    const text = isPlain ? source.replace(/\s+/g, '').replaceAll(',', ', ') : source
    return { piece: 'leaf', text, ...this.#lines(first, last) }
  }

  /** Skips comments in front of an offset. @returns whether there are any */
  #commentsUntil(offset: number): boolean {
    const before = this.#comment
    while ((this.#parsed.comments[this.#comment]?.from ?? Number.POSITIVE_INFINITY) < offset) this.#comment++
    return this.#comment > before
  }

  /** Brackets whose content is in a language of its own. */
  #verbatim(open: Token): LeafPiece {
    this.#skipGroup()
    return this.#leaf(open, this.#previous())
  }

  #pair(field: Token, colon: Token): FormatNode {
    this.#token++
    const name = this.#parsed.text.slice(field.from, field.to)
    const key = colon.kind === ':' ? `${name}:` : `${name} :=`
    const comment = this.#parsed.comments[this.#comment]
    // A comment between a field and its value stays there.
    if (comment !== undefined && comment.from < this.#peek().from) {
      return { piece: 'leaf', text: key, ...this.#lines(field, colon) }
    }
    const value = this.#piece(undefined)
    const { firstLine } = this.#lines(field, colon)
    return { piece: 'pair', key, value, firstLine, lastLine: value.lastLine, hasComma: false }
  }

  #group(open: Token): GroupPiece {
    this.#token++
    const close = CLOSING[open.kind]
    const items = this.items(close)
    const last = this.#peek()
    this.#token++
    const isPadded = open.kind === '{' && items.length > 0 && /\s/.test(this.#parsed.text[open.to] ?? '')
    return { piece: 'group', open: open.kind, close, isPadded, items, ...this.#lines(open, last) }
  }

  #lines(first: Token, last: Token) {
    const { lines } = this.#parsed
    return { firstLine: lines.lineOf(first.from), lastLine: lines.lineOf(last.to), hasComma: false }
  }
}
