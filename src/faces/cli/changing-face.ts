/** A log on one output. Its format and level can change while it is in use. */
import type { Face, KeyControl } from './console.ts'
import type { LogFormat } from './levels.ts'
import { isShown, type LogLevel, type LogStyle } from './levels.ts'
import type { ConsoleEvent } from './notices.ts'

export interface ChangingFace extends Face {
  /** Shows an event at any level. */
  readonly tell: (event: ConsoleEvent) => void
  /** Sets the style of all later events. */
  readonly use: (style: LogStyle) => void
}

/** Makes the face for a format. `levelNow` returns the current level. */
export type FaceMaker = (format: LogFormat, levelNow: () => LogLevel) => Face

export function changingFace(first: LogStyle, faceOf: FaceMaker): ChangingFace {
  let style = first
  const newFace = () => faceOf(style.format, () => style.level)
  let face = newFace()
  let attended: KeyControl | null = null
  let leave: () => void = () => undefined
  return {
    show: (event) => {
      if (isShown(event, style)) face.show(event)
    },
    tell: (event) => face.show(event),
    attend: (miner) => {
      attended = miner
      leave = face.attend(miner)
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
      face = newFace()
      if (attended !== null) leave = face.attend(attended)
    },
  }
}
