/** Splits comments and Markdown into blocks of prose: paragraphs, list items, headings and table cells. */

/** A line of text with its number in the file. */
export interface Line {
  readonly line: number
  readonly text: string
}

/** Consecutive text without a break, one or more lines long. */
export interface Block {
  readonly kind: 'text' | 'heading' | 'cell'
  readonly lines: readonly Line[]
}

const FENCE = /^\s*(```+|~~~+)/
const HEADING = /^\s*#{1,6}\s+/
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/
const RULER = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/
/** A tag of a docstring, with the name of its parameter. */
const TAG = /^\s*@(?:(?:param|throws|template|property|typeParam)\s+\S+|\w+)\s*(?:-\s+)?/

/** The blocks of a text. Skips fenced and indented code, HTML comments and rulers. */
export function blocksOf(lines: readonly Line[]): Block[] {
  const blocks: Block[] = []
  let open: Line[] = []
  let fence: string | null = null
  let isAfterBlank = true
  const close = () => {
    if (open.length > 0) blocks.push({ kind: 'text', lines: open })
    open = []
  }
  for (const { line, text: full } of withoutHtmlComments(lines)) {
    const text = full.replace(/^\s*(?:>\s?)+/, '')
    const mark = FENCE.exec(text)?.[1] ?? null
    if (fence !== null || mark !== null) {
      close()
      fence = fence === null ? mark : mark?.startsWith(fence) ? null : fence
      continue
    }
    const isBlank = text.trim() === ''
    const isCode: boolean = isAfterBlank && /^ {4,}\S/.test(text)
    if (isBlank || RULER.test(text)) close()
    else if (HEADING.test(text)) {
      close()
      blocks.push({ kind: 'heading', lines: [{ line, text: text.replace(HEADING, '') }] })
    } else if (text.trimStart().startsWith('|')) {
      close()
      for (const cell of cellsOf(text)) blocks.push({ kind: 'cell', lines: [{ line, text: cell }] })
    } else if (!isCode) {
      const start = ITEM.exec(text) ?? TAG.exec(text)
      if (start !== null) close()
      open.push({ line, text: text.slice(start?.[0].length ?? 0).trim() })
    }
    // Lines of code that follow one another have no blank between them.
    isAfterBlank = isBlank || isCode
  }
  close()
  return blocks
}

/** The cells of a table row that are not empty. A bar in a code span or after a backslash is text. */
function cellsOf(row: string): string[] {
  const spans = row.replace(/`[^`]*`|\\\|/g, (span) => 'x'.repeat(span.length))
  const cells: string[] = []
  let start = 0
  for (let at = 0; at <= spans.length; at++) {
    if (at < spans.length && spans[at] !== '|') continue
    cells.push(row.slice(start, at).trim())
    start = at + 1
  }
  return cells.filter((cell) => cell !== '')
}

function withoutHtmlComments(lines: readonly Line[]): Line[] {
  const text = lines.map((each) => each.text).join('\n')
  const rest = text.replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\n]/g, ' '))
  return rest.split('\n').map((each, i) => ({ line: lines[i].line, text: each }))
}
