/** The first line of a command whose modules take long to load. */
import type { CommandFacts } from './command-row.ts'
import { runBeforeWrites } from './line.ts'
import { screenFor } from './screen.ts'
import type { CommandContext } from './terminal.ts'

interface Opening {
  /** The same context. Each text, and each use of stdin, clears the line first. */
  readonly context: CommandContext
  readonly clear: () => void
}

const DEFAULT_COLUMNS = 80

/** Shows version, name and task of a command at once on a terminal, until it prints something itself. */
export function showOpening({ name, help }: CommandFacts, context: CommandContext): Opening {
  const { out, err, environment, version } = context
  const screen = screenFor(err, environment)
  if (!screen.isLive) return { context, clear: () => undefined }
  // Some terminals break a line that fills the last column.
  screen.status(`newcut ${version} ${name}: ${help}`.slice(0, (err.columns || DEFAULT_COLUMNS) - 1))
  const clear = () => screen.status(null)
  const { nowMs, untilStopped } = context
  return {
    clear,
    context: {
      out: runBeforeWrites(clear, out),
      err: runBeforeWrites(clear, err),
      version,
      environment,
      nowMs,
      untilStopped,
      input: () => {
        clear()
        return context.input()
      },
      get keyboard() {
        return context.keyboard
      },
    },
  }
}
