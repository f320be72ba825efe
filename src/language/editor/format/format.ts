/** Formats texts of the language. Line breaks of the author stay; indentation, spaces and long lines do not. */
import type { Form } from '../../contracts/syntax/form.ts'
import { Decimal } from '../../contracts/values/decimal.ts'
import { type ParsedFile, parseFile } from '../text/parsed-file.ts'
import { textPieces } from './format-tree.ts'
import { FormatWriter } from './format-writer.ts'

/** An error with its place, from 1. */
export interface FormatFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** @returns the formatted text, or the errors of a text that cannot be read */
export function formatFile(
  file: string,
  text: string,
): { readonly text: string } | { readonly errors: readonly FormatFault[] } {
  const parsed = parseFile(file, text)
  if (parsed.findings.length > 0) return { errors: parsed.findings.map((finding) => errorAt(parsed, finding)) }
  const printed = new FormatWriter().file(textPieces(parsed))
  const formatted = text.includes('\r\n') ? printed.replace(/\r?\n/g, '\r\n') : printed
  if (meaningOf(parseFile(file, formatted)) === meaningOf(parsed)) return { text: formatted }
  return { errors: [{ line: 1, column: 1, message: 'newcut cannot format this text without changing its meaning' }] }
}

/** @returns null if the text cannot be read */
export function formatText(file: string, text: string): string | null {
  const result = formatFile(file, text)
  return 'text' in result ? result.text : null
}

function errorAt(
  { lines }: ParsedFile,
  { from, message }: { readonly from: number; readonly message: string },
): FormatFault {
  return { line: lines.lineOf(from) + 1, column: lines.columnOf(from) + 1, message }
}

/** Forms without their places, and all comments: what formatting must keep. */
function meaningOf({ forms, comments, text, findings }: ParsedFile): string {
  const notes = comments.map(({ from, to }) => text.slice(from, to).trimEnd())
  return JSON.stringify([findings, notes, forms.map(withoutPlaces)])
}

/** A form as data that is equal for forms that mean the same. */
export function withoutPlaces(form: Form): unknown {
  const rest = { ...form, place: 0, from: 0, to: 0 }
  switch (rest.form) {
    case 'number':
      return { ...rest, value: rest.value instanceof Decimal ? rest.value.toString() : `${rest.value}n` }
    case 'list':
    case 'call':
      return { ...rest, items: rest.items.map(withoutPlaces) }
    case 'object':
      return { ...rest, fields: rest.fields.map(([name, value]) => [name, withoutPlaces(value)]) }
    case 'binding':
      return { ...rest, fields: rest.fields.map(([name, atom]) => [name, withoutPlaces(atom)]) }
    default:
      return rest
  }
}
