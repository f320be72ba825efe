/** The console of a development network: lines of events, and on a terminal a status line. */
import type { ViewMaker } from './changing-view.ts'
import { type ConsoleView, jsonView } from './console.ts'
import { DevnetActivity, type DevnetNow } from './devnet-activity.ts'
import { devnetStatusText } from './devnet-status.ts'
import { includes, type LogFormat, type LogLevel } from './levels.ts'
import { type ConsoleLine, lineFormatter, type Output, painter } from './line.ts'
import type { BlockNotice } from './notices.ts'
import { screenFor } from './screen.ts'
import type { Terminal } from './terminal.ts'
import { textView } from './text-view.ts'

export interface DevnetConsole {
  readonly views: ViewMaker
  /** Whether a block gets its own line. Others are counted here for a later summary. */
  readonly hasOwnLine: (block: BlockNotice) => boolean
  /** Updates the status line, and shows lines when they are due. @returns a function that ends this. */
  readonly attend: (now: () => DevnetNow) => () => void
}

const TICK_MS = 1000
const DEFAULT_COLUMNS = 80

export function devnetConsole(terminal: Terminal, format: LogFormat): DevnetConsole {
  if (format === 'text') return textConsole(terminal)
  return { views: () => jsonView(terminal), hasOwnLine: () => true, attend: () => () => undefined }
}

function textConsole(terminal: Terminal): DevnetConsole {
  const { out, environment, nowMs } = terminal
  const screen = screenFor(out, environment)
  const above: Output = {
    get isTTY() {
      return out.isTTY ?? false
    },
    get columns() {
      return out.columns ?? DEFAULT_COLUMNS
    },
    write: (text) => screen.print(text),
  }
  const formatted = lineFormatter(above, environment, nowMs)
  const paint = painter(out, environment)
  const activity = new DevnetActivity({ isLive: screen.isLive, nowMs })
  let levelNow: () => LogLevel = () => 'info'
  const print = (lines: readonly ConsoleLine[]) => {
    if (lines.length > 0 && includes(levelNow(), 'info')) screen.print(formatted(lines))
  }
  const views = (_format: LogFormat, level: () => LogLevel): ConsoleView => {
    levelNow = level
    const view = textView({ ...terminal, out: above }, level)
    return {
      show: (event) => {
        if (event.type === 'transaction') print(activity.transaction(event))
        else view.show(event)
      },
      attend: view.attend,
    }
  }
  const attend = (now: () => DevnetNow) => {
    const tick = () => {
      const present = now()
      print(activity.tick(present))
      // Some terminals break a line that fills the last column.
      const columns = (out.columns ?? DEFAULT_COLUMNS) - 1
      if (screen.isLive) screen.status(devnetStatusText(present, activity.counts, columns, paint))
    }
    tick()
    const timer = setInterval(tick, TICK_MS)
    return () => {
      clearInterval(timer)
      print(activity.tick(now()))
      screen.status(null)
    }
  }
  return { views, hasOwnLine: (block) => activity.block(block), attend }
}
