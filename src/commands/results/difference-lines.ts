/** Expected and actual values, and how they differ. */
import type { Paint } from '#faces/cli/line.ts'
import { fitText, type ResultStyle } from './source-frame.ts'

/** Equal lines that stay around a difference. */
const CONTEXT = 3
/** Lines of a difference that are shown. */
const MAX_SHOWN = 60
/** Pairs of lines that are compared at most; beyond it, all lines between the first and the last difference differ. */
const MAX_PAIRS = 4_000_000
/** Shorter values need no marks below them. */
const MARKED_CHARACTERS = 8

type LineKind = 'equal' | 'expected' | 'actual'

interface DifferenceLine {
  readonly kind: LineKind
  readonly text: string
}

/** Two values, one below the other, or as the lines in which they differ. Without indentation. */
export function differenceLines(expected: readonly string[], actual: readonly string[], style: ResultStyle): string[] {
  const room = (style.columns ?? Number.POSITIVE_INFINITY) - LABEL
  if (expected.length === 1 && actual.length === 1 && Math.max(expected[0].length, actual[0].length) <= room) {
    return shortPair(expected[0], actual[0], style.paint)
  }
  return longDifference(expected, actual, style)
}

/** Width of a label before a value. */
const LABEL = 'condition  '.length

/** `expected  3` */
export function labelledLines(label: string, lines: readonly string[]): string[] {
  return lines.map((line, i) => `${(i === 0 ? label : '').padEnd(LABEL)}${line}`)
}

function shortPair(expected: string, actual: string, paint: Paint): string[] {
  const { start, expectedEnd, actualEnd } = differingParts(expected, actual)
  const lines = [
    ...labelledLines('expected', [painted(expected, start, expectedEnd, (text) => paint('green', text))]),
    ...labelledLines('actual', [painted(actual, start, actualEnd, (text) => paint('red', text))]),
  ]
  if (Math.min(expected.length, actual.length) < MARKED_CHARACTERS) return lines
  const width = Math.max(1, expectedEnd - start, actualEnd - start)
  return [...lines, `${' '.repeat(LABEL + start)}${paint('red', '^'.repeat(width))}`]
}

const painted = (text: string, from: number, to: number, paint: (text: string) => string) =>
  `${text.slice(0, from)}${from < to ? paint(text.slice(from, to)) : ''}${text.slice(to)}`

/** Where two texts differ: behind their common start, and before their common end. */
function differingParts(expected: string, actual: string) {
  const least = Math.min(expected.length, actual.length)
  let start = 0
  while (start < least && expected[start] === actual[start]) start++
  let end = 0
  while (end < least - start && expected.at(-1 - end) === actual.at(-1 - end)) end++
  return { start, expectedEnd: expected.length - end, actualEnd: actual.length - end }
}

function longDifference(expected: readonly string[], actual: readonly string[], { paint, columns }: ResultStyle) {
  const room = (columns ?? Number.POSITIVE_INFINITY) - 2
  const lines = foldEqual(compareLines(expected, actual))
  const shown = shortenCommon(lines.slice(0, MAX_SHOWN), room).map(({ kind, text }) => {
    if (kind === 'equal') return paint('dim', `  ${text}`)
    return kind === 'expected' ? paint('green', `- ${text}`) : paint('red', `+ ${text}`)
  })
  const head = `${paint('green', '- expected')}  ${paint('red', '+ actual')}`
  const more = lines.length - MAX_SHOWN
  return [head, ...shown, ...(more > 0 ? [paint('dim', `  ... ${more} more lines; --json has all`)] : [])]
}

/** The lines of both in their order, each once where they are equal. */
function compareLines(expected: readonly string[], actual: readonly string[]): DifferenceLine[] {
  const least = Math.min(expected.length, actual.length)
  let start = 0
  while (start < least && expected[start] === actual[start]) start++
  let end = 0
  while (end < least - start && expected.at(-1 - end) === actual.at(-1 - end)) end++
  const equal = (texts: readonly string[]) => texts.map((text): DifferenceLine => ({ kind: 'equal', text }))
  const between = compareMiddle(expected.slice(start, expected.length - end), actual.slice(start, actual.length - end))
  return [...equal(expected.slice(0, start)), ...between, ...equal(expected.slice(expected.length - end))]
}

/** By the longest common sequence of lines. */
function compareMiddle(expected: readonly string[], actual: readonly string[]): DifferenceLine[] {
  const [height, width] = [expected.length, actual.length]
  if (height * width > MAX_PAIRS) return [...linesOfKind('expected', expected), ...linesOfKind('actual', actual)]
  // lengths[i * (width + 1) + j]: of the longest common sequence of the lines from i and from j.
  const lengths = new Uint32Array((height + 1) * (width + 1))
  const at = (i: number, j: number) => i * (width + 1) + j
  for (let i = height - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      lengths[at(i, j)] =
        expected[i] === actual[j]
          ? lengths[at(i + 1, j + 1)] + 1
          : Math.max(lengths[at(i + 1, j)], lengths[at(i, j + 1)])
    }
  }
  const lines: DifferenceLine[] = []
  let [i, j] = [0, 0]
  while (i < height && j < width) {
    if (expected[i] === actual[j]) {
      lines.push({ kind: 'equal', text: expected[i] })
      i++
      j++
    } else if (lengths[at(i + 1, j)] >= lengths[at(i, j + 1)]) lines.push({ kind: 'expected', text: expected[i++] })
    else lines.push({ kind: 'actual', text: actual[j++] })
  }
  return [...lines, ...linesOfKind('expected', expected.slice(i)), ...linesOfKind('actual', actual.slice(j))]
}

const linesOfKind = (kind: LineKind, texts: readonly string[]) => texts.map((text): DifferenceLine => ({ kind, text }))

/** Equal lines far from a difference become one line that counts them. */
function foldEqual(lines: readonly DifferenceLine[]): DifferenceLine[] {
  const folded: DifferenceLine[] = []
  for (let from = 0; from < lines.length; ) {
    let to = from
    while (to < lines.length && lines[to].kind === 'equal') to++
    if (to === from) folded.push(lines[from++])
    else {
      const head = from === 0 ? 0 : CONTEXT
      const tail = to === lines.length ? 0 : CONTEXT
      const count = to - from - head - tail
      if (count < 2) folded.push(...lines.slice(from, to))
      else {
        folded.push(...lines.slice(from, from + head), { kind: 'equal', text: `... ${count} equal lines` })
        folded.push(...lines.slice(to - tail, to))
      }
      from = to
    }
  }
  return folded
}

/** Leaves out what is equal in lines that do not fit; what differs stays. */
function shortenCommon(lines: readonly DifferenceLine[], room: number): DifferenceLine[] {
  return lines.map(({ kind, text }, i) => {
    if (text.length <= room) return { kind, text }
    if (kind === 'equal') return { kind, text: fitText(text, room) }
    const other = kind === 'expected' ? lines[i + 1] : lines[i - 1]
    if (other === undefined || other.kind === kind || other.kind === 'equal') return { kind, text }
    const { start, expectedEnd } = differingParts(text, other.text)
    const indent = text.search(/\S|$/)
    const from = start - indent > room / 2 ? start - Math.floor(room / 4) : 0
    const to = text.length - expectedEnd > room / 2 ? expectedEnd + Math.floor(room / 4) : text.length
    const head = from === 0 ? '' : `${' '.repeat(indent)}…`
    return { kind, text: `${head}${text.slice(from, to)}${to === text.length ? '' : '…'}` }
  })
}
