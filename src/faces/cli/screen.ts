/** A terminal with a status line below the lines of events. Other outputs have no status line. */
import type { Output, ProcessEnvironment } from './line.ts'
import { textWidth } from './text-width.ts'

export interface Screen {
  /** Whether it has a status line. */
  readonly isLive: boolean
  /** Prints text above the status line. The text must end with a line break. */
  readonly print: (text: string) => void
  /** Sets the status line, which must fit the terminal, or removes it with null. */
  readonly status: (text: string | null) => void
}

/** Terminals that know these draw what is between them at once, without a flicker. Others ignore them. */
const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'
/** Clears a row above the cursor, and moves there. */
const CLEAR_ROW = '\u001B[1A\u001B[2K'
/** For terminals that do not know their size; some say 0. */
const DEFAULT_COLUMNS = 80

/** The cursor stays visible: if the process is killed, a hidden one would stay hidden. */
export function screenFor(out: Output, { TERM }: ProcessEnvironment): Screen {
  if (out.isTTY !== true || TERM === 'dumb')
    return { isLive: false, print: (text) => void out.write(text), status: () => undefined }
  let shown: string | null = null
  /** A terminal that became narrower has broken the line into rows. */
  const rows = (text: string) => Math.max(1, Math.ceil(textWidth(text) / (out.columns || DEFAULT_COLUMNS)))
  const draw = (above: string, next: string | null) => {
    const cleared = shown === null ? '' : `\r${CLEAR_ROW.repeat(rows(shown))}`
    const status = next === null ? '' : `${next}\n`
    shown = next
    out.write(`${BEGIN}${cleared}${above}${status}${END}`)
  }
  return {
    isLive: true,
    print: (text) => {
      if (shown === null) out.write(text)
      else draw(text, shown)
    },
    status: (text) => {
      if (text !== shown) draw('', text)
    },
  }
}
