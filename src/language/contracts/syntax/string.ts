/** Parses string literals. */
import { ContractError, type TextPlace } from '../errors.ts'

const PLAIN = /[^"\\\n\r]+/y
/** A gap, white space between two backslashes, continues a string. */
const GAP = /\s+/y
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\', '"': '"', "'": "'" }

/**
 * Reads the string whose opening quote is at `from`.
 * @returns its content and the offset after the closing quote
 * @throws ContractError (SyntaxError)
 */
export function readString(
  text: string,
  from: number,
  place: TextPlace,
): { readonly text: string; readonly to: number } {
  const parts: string[] = []
  let at = from + 1
  for (;;) {
    PLAIN.lastIndex = at
    const plain = PLAIN.exec(text)
    if (plain !== null) {
      parts.push(plain[0])
      at = PLAIN.lastIndex
    }
    const stop = text[at]
    if (stop === '"') return { text: parts.join(''), to: at + 1 }
    if (stop === undefined) throw bad('did not close string literal', place)
    if (stop !== '\\') throw bad(`${stop === '\n' ? 'newline' : 'carriage return'} in string literal`, place)
    const letter = text[at + 1] ?? ''
    if (Object.hasOwn(ESCAPES, letter)) {
      parts.push(ESCAPES[letter])
      at += 2
      continue
    }
    GAP.lastIndex = at + 1
    if (GAP.exec(text) === null) throw bad('Invalid escape sequence', place)
    at = GAP.lastIndex
    if (at >= text.length) throw bad('did not close string literal', place)
    if (text[at] !== '\\') throw bad('Invalid multiline string', place)
    at++
  }
}

function bad(message: string, place: TextPlace): ContractError {
  return new ContractError('SyntaxError', message, place)
}
