/** The console of a development network: lines of events, and on a terminal a last line that shows the present. */
import { type ConsoleEvent, jsonFace, type LogFormat, type Terminal } from './console.ts'
import { DevnetActivity, type DevnetNow } from './devnet-activity.ts'
import { devnetStatusText } from './devnet-status.ts'
import { type Line, lineFormatter, type Output, painter } from './line.ts'
import { screenFor } from './screen.ts'
import { faceFor } from './text-face.ts'

export interface DevnetFace {
  readonly show: (event: ConsoleEvent) => void
  /** For other lines: what is written there stands above the last line. */
  readonly out: Output
  /** Keeps the last line up to date, and tells what is due, until the function returned is called. */
  readonly attend: (now: () => DevnetNow) => () => void
}

const TICK_MS = 1000
const DEFAULT_COLUMNS = 80

export function devnetFaceFor(format: LogFormat, terminal: Terminal): DevnetFace {
  if (format === 'text') return textFace(terminal)
  return { show: jsonFace(terminal).show, out: terminal.out, attend: () => () => undefined }
}

function textFace(terminal: Terminal): DevnetFace {
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
  const face = faceFor('text', { ...terminal, out: above })
  const format = lineFormatter(above, environment, nowMs)
  const paint = painter(out, environment)
  const activity = new DevnetActivity({ isLive: screen.isLive, nowMs })
  const print = (lines: readonly Line[]) => {
    if (lines.length > 0) screen.print(format(lines))
  }
  const show = (event: ConsoleEvent) => {
    if (event.type === 'transaction') print(activity.transaction(event))
    else if (event.type !== 'block' || activity.block(event)) face.show(event)
  }
  const attend = (now: () => DevnetNow) => {
    const tick = () => {
      const present = now()
      print(activity.tick(present))
      // A terminal that is full to the last column may go to the next line by itself.
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
  return { show, out: above, attend }
}
