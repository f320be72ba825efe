/** A log on one output. Its format and level can change while it is in use. */
import type { ConsoleView, KeyControl } from './console.ts'
import type { LogFormat } from './levels.ts'
import { isShown, type LogLevel, type LogStyle } from './levels.ts'
import type { ConsoleEvent } from './notices.ts'

export interface ReplaceableView extends ConsoleView {
  /** Shows an event at any level. */
  readonly tell: (event: ConsoleEvent) => void
  /** Sets the style of all later events. */
  readonly use: (style: LogStyle) => void
}

/** Makes the view of a format. `levelNow` returns the current level. */
export type ViewMaker = (format: LogFormat, levelNow: () => LogLevel) => ConsoleView

export function changingView(first: LogStyle, viewOf: ViewMaker): ReplaceableView {
  let style = first
  const newView = () => viewOf(style.format, () => style.level)
  let view = newView()
  let attended: KeyControl | null = null
  let leave: () => void = () => undefined
  return {
    show: (event) => {
      if (isShown(event, style)) view.show(event)
    },
    tell: (event) => view.show(event),
    attend: (miner) => {
      attended = miner
      leave = view.attend(miner)
      return () => {
        attended = null
        leave()
      }
    },
    use: (next) => {
      const isSameFormat = next.format === style.format
      style = next
      if (isSameFormat) return
      if (attended !== null) leave()
      view = newView()
      if (attended !== null) leave = view.attend(attended)
    },
  }
}
