/** Lines of the console: a time, a label, a text. Only this file decides on colours. */
import { styleText } from 'node:util'

export type Style = 'green' | 'yellow' | 'red' | 'cyan' | 'dim' | 'bold'

export interface Line {
  readonly label: string
  readonly style: Style
  readonly text: string
}

/** Where text goes. */
export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export type Environment = Readonly<Record<string, string | undefined>>

/** What prints lines there, with colours on a terminal unless the variable NO_COLOR is set. */
export function linePrinter(out: Output, environment: Environment, nowMs: () => number): (line: Line) => void {
  const colours = out.isTTY === true && !environment.NO_COLOR
  const paint = (style: Style, text: string) => (colours ? styleText(style, text) : text)
  return ({ label, style, text }) => {
    const time = new Date(nowMs()).toTimeString().slice(0, 8)
    out.write(`${paint('dim', time)} ${paint(style, label.padEnd(9))} ${text}\n`)
  }
}
