/** The log in a file: whole lines with date and time and without colours, or the records of the console. */
import { type ConsoleView, jsonView } from './console.ts'
import type { LogFormat } from './levels.ts'
import { type ConsoleLine, lineFormatter, type Output } from './line.ts'
import { linesOf, plainTextsOf } from './lines.ts'

/** `nowMs`: Unix time in milliseconds. */
export function fileView(format: LogFormat, out: Pick<Output, 'write'>, nowMs: () => number): ConsoleView {
  return format === 'json' ? jsonView({ out, nowMs }) : textFileView(out, nowMs)
}

function textFileView(out: Pick<Output, 'write'>, nowMs: () => number): ConsoleView {
  // A file may cover many days, and gets no colours, even if the environment turns them on.
  const formatted = lineFormatter(out, {}, nowMs, (unixMs) => new Date(unixMs).toISOString())
  return {
    show: (event) => {
      const plain = plainTextsOf(event).map((text): ConsoleLine => ({ label: '', style: 'dim', text }))
      const text = formatted([...plain, ...linesOf(event)])
      if (text !== '') out.write(text)
    },
    attend: () => () => undefined,
  }
}
