/** Splits a text into tokens even where it is broken, and keeps its comments. */
import { ContractError, NOWHERE } from '../../contracts/errors.ts'
import { LineCounter, skip, type Token, tokenAt } from '../../contracts/syntax/reader.ts'
import type { CodeFinding, OffsetRange } from './spans.ts'

export interface TextScan {
  /** The last one is of kind `end`. */
  readonly tokens: readonly Token[]
  readonly comments: readonly OffsetRange[]
  readonly findings: readonly CodeFinding[]
}

/** Never throws: characters that begin no token are skipped, and an unclosed string ends with its line. */
export function scan(text: string): TextScan {
  const tokens: Token[] = []
  const comments: OffsetRange[] = []
  const findings: CodeFinding[] = []
  const lines = new LineCounter(text, NOWHERE)
  let at = 0
  for (;;) {
    const from = skip(text, at)
    addComments(text, at, from, comments)
    const place = lines.placeOf(from)
    if (from >= text.length) {
      tokens.push({ kind: 'end', text: '', place, from: text.length, to: text.length })
      return { tokens, comments, findings }
    }
    try {
      const token = tokenAt(text, from, place)
      tokens.push(token)
      at = token.to
    } catch (error) {
      if (!(error instanceof ContractError)) throw error
      at = endOfBroken(text, from)
      findings.push({ severity: 'error', code: 'syntax', message: error.message, from, to: at })
      if (text[from] === '"') tokens.push({ kind: 'string', text: text.slice(from + 1, at), place, from, to: at })
    }
  }
}

function addComments(text: string, from: number, to: number, comments: OffsetRange[]): void {
  for (const { index, 0: comment } of text.slice(from, to).matchAll(/;[^\n]*/g)) {
    comments.push({ from: from + index, to: from + index + comment.length })
  }
}

/** A broken string takes the rest of its line, a number all of its digits, and anything else one character. */
function endOfBroken(text: string, from: number): number {
  if (text[from] === '"') {
    const end = text.indexOf('\n', from)
    return end < 0 ? text.length : end
  }
  const digits = /-?[\d.]+/y
  digits.lastIndex = from
  const length = digits.exec(text)?.[0].length ?? String.fromCodePoint(text.codePointAt(from) ?? 0).length
  return from + length
}
