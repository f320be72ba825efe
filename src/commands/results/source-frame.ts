/** The line of a source that a result is about, with a caret below it. */
import { type Paint, textWidth } from '#faces/cli/line.ts'
import { MAX_CODE_BYTES, readUserText } from '#ground/base/user-file.ts'
import type { LocatedResult } from '#language/testing/results.ts'
import { withoutControls } from './value-lines.ts'

/** The style of results. */
export interface ResultStyle {
  readonly paint: Paint
  /** Columns of the terminal; undefined cuts nothing. */
  readonly columns: number | undefined
}

/** Cut lines keep at least so many columns. */
const LEAST_ROOM = 20

/** Texts of source files, each read once. */
export class SourceFrames {
  readonly #lines = new Map<string, readonly string[] | null>()

  /** Lines of the frame, without indentation; none if the source cannot be read. */
  frame({ file, place }: LocatedResult, { paint, columns }: ResultStyle): string[] {
    const line = place === null ? undefined : this.#readOnce(file)?.[place.line]
    if (place === null || line === undefined || line.trim() === '') return []
    const number = `${place.line + 1}`
    const gutter = number.length + 3
    const room = Math.max(LEAST_ROOM, (columns ?? Number.POSITIVE_INFINITY) - gutter)
    const { text, offset, width } = fitLine(line, place.column, room)
    const caret = `${' '.repeat(offset)}${paint('red', '^'.repeat(width))}`
    return [`${paint('dim', `${number} |`)} ${text}`, `${paint('dim', `${' '.repeat(number.length)} |`)} ${caret}`]
  }

  /** Forgets all texts: files may change between two runs. */
  clear(): void {
    this.#lines.clear()
  }

  #readOnce(file: string): readonly string[] | null {
    let lines = this.#lines.get(file)
    if (lines === undefined) {
      lines = readLines(file)
      this.#lines.set(file, lines)
    }
    return lines
  }
}

function readLines(file: string): readonly string[] | null {
  try {
    return readUserText(file, MAX_CODE_BYTES).split('\n')
  } catch {
    // The code may be of a network, or its file gone.
    return null
  }
}

interface FittedLine {
  readonly text: string
  /** Columns before the caret, and of the caret. */
  readonly offset: number
  readonly width: number
}

/** The line without what does not fit, and without the white space before it. */
function fitLine(line: string, column: number, room: number): FittedLine {
  const plain = (text: string) => withoutControls(text).replaceAll('\t', '  ').replace(/\s+$/, '')
  const before = withoutControls(line.slice(0, column)).replaceAll('\t', '  ')
  const [word] = /^\(?[^\s()[\]{}",]*/.exec(line.slice(column)) ?? ['']
  const after = plain(line.slice(column))
  const skipped = Math.min(before.search(/\S|$/), before.length)
  const head = before.slice(skipped)
  const kept = fitEnd(head, Math.max(room - textWidth(after), Math.floor(room / 3)))
  const offset = textWidth(kept)
  const text = fitText(`${kept}${after}`, room)
  return { text, offset, width: Math.max(1, Math.min(textWidth(word), room - offset)) }
}

/** The end of a text that fits, after an ellipsis if it is not all of it. */
function fitEnd(text: string, room: number): string {
  if (textWidth(text) <= room) return text
  let [kept, width] = ['', 1]
  for (const character of [...text].reverse()) {
    width += textWidth(character)
    if (width > room) break
    kept = character + kept
  }
  return `…${kept}`
}

/** The start of a text that fits, before an ellipsis if it is not all of it. */
export function fitText(text: string, room: number): string {
  if (text.length <= room && textWidth(text) <= room) return text
  let [kept, width] = ['', 1]
  for (const character of text) {
    width += textWidth(character)
    if (width > room) break
    kept += character
  }
  return `${kept}…`
}
