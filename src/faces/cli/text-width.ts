/**
 * Columns that text takes on a terminal. Every command prints text, so its patterns, which take 20 ms, wait for the first
 * text that is not ASCII.
 */

/** Escape sequences of styles and links, which take no column. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with such a character
const STYLE = /\u001B\[[\d;]*[A-Za-z]|\u001B\]8;[^\u0007\u001B]*(?:\u0007|\u001B\\)/g
const ASCII = /^[ -~]*$/

/** Characters of two columns, from the East Asian Widths of Unicode 16. */
const WIDE = [
  ['1100-115F', '231A-231B', '2329-232A', '23E9-23EC', '2630-2637', '268A-268F', '2E80-303E', '3041-3247', '3250-A4CF'],
  ['A960-A97C', 'AC00-D7A3', 'F900-FAFF', 'FE10-FE19', 'FE30-FE6B', 'FF01-FF60', 'FFE0-FFE6', '16FE0-18DFF'],
  ['1AFF0-1B2FB', '1D300-1D376', '1F200-1F265', '20000-3FFFD'],
].flat()

interface Patterns {
  readonly clusters: Intl.Segmenter
  /** The cluster has two columns. */
  readonly wide: RegExp
  /** The cluster has no column. */
  readonly hidden: RegExp
  /** Each of these has a column of its own in its cluster. */
  readonly spacing: RegExp
}

let loaded: Patterns | null = null

function loadPatterns(): Patterns {
  const ranges = WIDE.map((range) => range.replace(/[\dA-F]+/g, '\\u{$&}')).join('')
  loaded ??= {
    clusters: new Intl.Segmenter(),
    wide: new RegExp(
      `^(?!\\p{RI}$)[${ranges}\\p{Emoji_Presentation}]|^\\p{Emoji}.*[\\u{FE0F}\\u{20E3}]|\\p{ExtPict}\\u{200D}`,
      'u',
    ),
    hidden: /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Mn}\p{Me}\p{Cs}]*$/u,
    spacing: /(?<=.)[\p{Mc}\uFF9E\uFF9F]/gu,
  }
  return loaded
}

/** The columns of a text without line breaks. Its styles have none. */
export function textWidth(text: string): number {
  const plain = text.replace(STYLE, '')
  if (ASCII.test(plain)) return plain.length
  const { clusters, wide, hidden, spacing } = loaded ?? loadPatterns()
  let width = 0
  for (const { segment } of clusters.segment(plain)) {
    if (hidden.test(segment)) continue
    width += (wide.test(segment) ? 2 : 1) + (segment.match(spacing)?.length ?? 0)
  }
  return width
}

/** The lines of a text, each at most so wide. They break at spaces, and within a word only where it is wider itself. */
export function wrapWords(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, columns))
}

function wrapLine(text: string, columns: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.trim().split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (textWidth(longer) <= columns) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line.trimEnd())
    const parts = cutWord(word, columns)
    line = parts.pop() ?? ''
    lines.push(...parts)
  }
  return [...lines, line.trimEnd()]
}

/** The parts of a word, each at most so wide. */
function cutWord(word: string, columns: number): string[] {
  if (textWidth(word) <= columns) return [word]
  const parts = ['']
  for (const { segment } of (loaded ?? loadPatterns()).clusters.segment(word)) {
    const longer = `${parts.at(-1)}${segment}`
    if (textWidth(longer) <= columns || parts.at(-1) === '') parts[parts.length - 1] = longer
    else parts.push(segment)
  }
  return parts
}
