/** A terminal whose last line shows the present, while lines of events go by above it; elsewhere lines alone. */
import { createLogUpdate } from 'log-update'
import type { Output, ProcessEnvironment } from './line.ts'

export interface Screen {
  /** Whether it has a last line of its own. */
  readonly isLive: boolean
  /** Prints text that ends with a line break, above the last line. */
  readonly print: (text: string) => void
  /** Sets the last line; null: there is none. It must fit the width of the terminal. */
  readonly status: (text: string | null) => void
}

export function screenFor(out: Output, { TERM }: ProcessEnvironment): Screen {
  if (out.isTTY !== true || TERM === 'dumb')
    return { isLive: false, print: (text) => void out.write(text), status: () => undefined }
  // A cursor that is hidden stays so when the process is killed.
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
