/** A console whose format can be changed while it is used. */
import type { Control, Face, LogFormat, Terminal } from './console.ts'
import { faceFor } from './text-face.ts'

export interface ChangingFace extends Face {
  /** Shows everything in this format from now on. */
  readonly use: (format: LogFormat) => void
}

export function changingFace(first: LogFormat, terminal: Terminal): ChangingFace {
  let format = first
  let face = faceFor(format, terminal)
  let attended: Control | null = null
  let leave: () => void = () => undefined
  return {
    show: (event) => face.show(event),
    attend: (miner) => {
      attended = miner
      leave = face.attend(miner)
      return () => {
        attended = null
        leave()
      }
    },
    use: (next) => {
      if (next === format) return
      if (attended !== null) leave()
      format = next
      face = faceFor(format, terminal)
      if (attended !== null) leave = face.attend(attended)
    },
  }
}
