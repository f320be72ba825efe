/** The console for people: lines of events, and on a terminal a status line and keys. */
import { answerOf } from './answers.ts'
import type { ViewMaker } from './changing-view.ts'
import { type ConsoleView, jsonView, type KeyControl } from './console.ts'
import { readKeys } from './hotkeys.ts'
import { isKey, type Key, keysText } from './keys.ts'
import { includes, type LogLevel } from './levels.ts'
import { type ConsoleLine, lineFormatter, painter, wrapText } from './line.ts'
import { LineBudget, type LineLimits } from './line-budget.ts'
import { linesOf, plainTextsOf } from './lines.ts'
import type { ConsoleEvent } from './notices.ts'
import { screenFor } from './screen.ts'
import { statusText } from './status.ts'
import type { Terminal } from './terminal.ts'

/** Rate limit of lines for work and solutions (burst, and lines per second): easy chains are fast. */
const LIMITS: LineLimits = { burst: 60, perSecond: 5 }
/** Update interval of the status line. */
const STATUS_MS = 1000
const DEFAULT_COLUMNS = 80
/** Indent of the continuation of a long banner line. */
const BANNER_INDENT = 2

/** Makes the views of a terminal. */
export function viewsOf(terminal: Terminal): ViewMaker {
  return (format, levelNow) => (format === 'json' ? jsonView(terminal) : textView(terminal, levelNow))
}

export function textView({ out, environment, keyboard, nowMs }: Terminal, levelNow: () => LogLevel): ConsoleView {
  const budget = new LineBudget(LIMITS, nowMs)
  let skipped = 0
  const screen = screenFor(out, environment)
  const format = lineFormatter(out, environment, nowMs)
  const paint = painter(out, environment)
  const print = (lines: readonly ConsoleLine[]) => screen.print(format(lines))
  const printBanner = (lines: readonly string[]) => {
    const fitting = lines.map((line) => wrapText(line, out, BANNER_INDENT).join(`\n${' '.repeat(BANNER_INDENT)}`))
    screen.print(fitting.map((line) => `${line}\n`).join(''))
  }
  const isLimited = (event: ConsoleEvent) => isFrequent(event) && !includes(levelNow(), 'debug')
  const show = (event: ConsoleEvent) => {
    const plain = plainTextsOf(event)
    if (event.type === 'banner') printBanner(plain)
    // Users copy keys from these lines, so they are not wrapped.
    else if (plain.length > 0) screen.print(`${plain.join('\n')}\n`)
    const lines = linesOf(event)
    if (lines.length === 0) return
    if (isLimited(event) && !budget.take()) {
      skipped++
      return
    }
    if (skipped > 0 && !budget.isEmpty) {
      print([{ label: '...', style: 'dim', text: `${skipped} more lines of work and solutions not shown` }])
      skipped = 0
    }
    print(lines)
  }
  const attend = (miner: KeyControl) => {
    if (!screen.isLive) return () => undefined
    // Some terminals break a line that fills the last column.
    const refresh = () => screen.status(statusText(miner.snapshot(), (out.columns ?? DEFAULT_COLUMNS) - 1, paint))
    refresh()
    const timer = setInterval(refresh, STATUS_MS)
    const handlers = {
      onKey: (key: string) => {
        if (!isKey(key)) return
        obey(key, miner, print)
        refresh()
      },
      onInterrupt: interrupt,
      onSuspend: () => {
        screen.status(null)
        // The signal stops child processes that search too, like the signal of a terminal.
        process.kill(0, 'SIGTSTP')
      },
    }
    const leaveKeys = keyboard === undefined ? null : readKeys(keyboard, handlers)
    if (leaveKeys !== null && includes(levelNow(), 'info')) printBanner([`keys: ${keysText}`])
    return () => {
      clearInterval(timer)
      leaveKeys?.()
      screen.status(null)
    }
  }
  return { show, attend }
}

function obey(key: Key, miner: KeyControl, print: (lines: readonly ConsoleLine[]) => void): void {
  switch (key) {
    case 'p':
      miner.pause()
      break
    case 'r':
      miner.resume()
      break
    case 'q':
      interrupt()
      break
    default:
      print(answerOf(key, miner.snapshot()))
  }
}

/** Sends the signal of Control-C to this process. */
function interrupt(): void {
  process.kill(process.pid, 'SIGINT')
}

function isFrequent(event: ConsoleEvent): boolean {
  return event.type === 'work' || event.type === 'block' || event.type === 'idle' || event.type === 'solution'
}
