/** A terminal with a status line below the lines of events. Other outputs have no status line. */
import { createLogUpdate } from 'log-update'
import type { Output, ProcessEnvironment } from './line.ts'

export interface Screen {
  /** Whether it has a status line. */
  readonly isLive: boolean
  /** Prints text above the status line. The text must end with a line break. */
  readonly print: (text: string) => void
  /** Sets the status line, which must fit the terminal, or removes it with null. */
  readonly status: (text: string | null) => void
}

export function screenFor(out: Output, { TERM }: ProcessEnvironment): Screen {
  if (out.isTTY !== true || TERM === 'dumb')
    return { isLive: false, print: (text) => void out.write(text), status: () => undefined }
  // A hidden cursor would stay hidden if the process is killed.
  const update = createLogUpdate(out as NodeJS.WriteStream, { showCursor: true })
  let shown: string | null = null
  return {
    isLive: true,
    print: (text) => {
      if (shown === null) {
        out.write(text)
        return
      }
      update.clear()
      out.write(text)
      update(shown)
    },
    status: (text) => {
      if (text !== null) update(text)
      else if (shown !== null) update.clear()
      shown = text
    },
  }
}
