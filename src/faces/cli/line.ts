/** Lines of the console: a time, a label, a text. Only this file decides on colours and wrapping. */
import { styleText } from 'node:util'
import { textWidth, wrapWords } from './text-width.ts'

export { textWidth } from './text-width.ts'

export type Style = 'green' | 'yellow' | 'red' | 'cyan' | 'dim' | 'bold'

export interface ConsoleLine {
  readonly label: string
  readonly style: Style
  readonly text: string
}

/** `chain 3  height 12   ` */
export const place = ({ chain, height }: { readonly chain: number; readonly height: number }) =>
  `chain ${String(chain).padEnd(2)} height ${String(height).padEnd(5)}`

/** `1 block`, `2 blocks` */
export const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** An output for text. */
export interface Output {
  readonly isTTY?: boolean
  /** Width of the terminal. */
  readonly columns?: number
  /** Its file descriptor, if it has one. */
  readonly fd?: number
  write(text: string): unknown
}

/** The same output. A task runs before each text. */
export function runBeforeWrites(task: () => void, output: Output): Output {
  const write = (text: string) => {
    task()
    return output.write(text)
  }
  // Its size changes while it is in use.
  return Object.create(output, { write: { value: write } }) as Output
}

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>

export type Paint = (style: Style, text: string) => string

/**
 * Whether to use colours. FORCE_COLOR turns them on, or off if it is 0 or false. Otherwise a non-empty NO_COLOR turns
 * them off. By default they are on for a terminal that is not dumb.
 */
export function hasColours(out: Output, { FORCE_COLOR, NO_COLOR, TERM }: ProcessEnvironment): boolean {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return out.isTTY === true && !NO_COLOR && TERM !== 'dumb'
}

export function painter(out: Output, environment: ProcessEnvironment): Paint {
  const colours = hasColours(out, environment)
  return (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text)
}

/** Columns before the text: a time and a label. */
const INDENT = 'hh:mm:ss '.length + 'label    '.length + 1
/** The least width to wrap at. Narrower terminals wrap by themselves. */
const MIN_TEXT_COLUMNS = 20

/** `hh:mm:ss`, in the time zone of this process. */
const timeOfDay = (unixMs: number) => new Date(unixMs).toTimeString().slice(0, 8)

/**
 * Returns a function that formats lines, each with a line break at its end. On a terminal, long texts wrap below their
 * own column. `timeText` formats a time; on a terminal its result must be as wide as `hh:mm:ss`.
 */
export function lineFormatter(
  out: Output,
  environment: ProcessEnvironment,
  nowMs: () => number,
  timeText: (unixMs: number) => string = timeOfDay,
): (lines: readonly ConsoleLine[]) => string {
  const paint = painter(out, environment)
  return (lines) => {
    const time = timeText(nowMs())
    return lines
      .map(({ label, style, text }) => {
        const [first, ...others] = wrapText(text, out, INDENT)
        const start = `${paint('dim', time)} ${paint(style, label.padEnd(9))} ${first}\n`
        return start + others.map((other) => `${' '.repeat(INDENT)}${other}\n`).join('')
      })
      .join('')
  }
}

/** Wraps a text that starts at that column. Parts between two or more spaces stay whole. */
export function wrapText(text: string, { isTTY, columns }: Output, indent: number): string[] {
  const width = (columns ?? Number.POSITIVE_INFINITY) - indent
  if (isTTY !== true || width < MIN_TEXT_COLUMNS || textWidth(text) <= width) return [text]
  const lines: string[] = []
  for (const part of text.split(/ {2,}/)) {
    const last = lines.at(-1)
    if (last !== undefined && textWidth(last) + 2 + textWidth(part) <= width) {
      lines[lines.length - 1] = `${last}  ${part}`
    } else {
      lines.push(...wrapWords(part, width))
    }
  }
  return lines
}

/** Returns a function that prints a line there. */
export function linePrinter(
  out: Output,
  environment: ProcessEnvironment,
  nowMs: () => number,
): (line: ConsoleLine) => void {
  const format = lineFormatter(out, environment, nowMs)
  return (line) => void out.write(format([line]))
}
