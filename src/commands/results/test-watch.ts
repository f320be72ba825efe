/** `newcut test --watch`: its lines, and the keys of its terminal. */
import { readKeys } from '#faces/cli/hotkeys.ts'
import { countText } from '#faces/cli/line.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { displayPath } from '#language/testing/files.ts'
import { type FoundFiles, findTestFiles } from '#language/testing/run.ts'
import { type WatchedRun, type WatchWish, watchFiles } from '#language/testing/watch.ts'

/** Key -> the files that it runs. Terminals send a carriage return for Enter. */
const WISHES: Readonly<Record<string, WatchWish>> = { '\r': 'all', '\n': 'all', f: 'failed' }

/** Files that run again. */
interface WatchedSuite {
  readonly run: (files: readonly string[], found: FoundFiles, stopped: AbortSignal) => Promise<WatchedRun>
}

/** Runs, and runs again what changes touch, until a signal or a key ends it. @returns the exit code of the last run */
export function runWatch(names: readonly string[], suite: WatchedSuite, context: CommandContext): Promise<number> {
  const { out, keyboard } = context
  return context.untilStopped(async (stopped) => {
    const ended = new AbortController()
    const signal = AbortSignal.any([stopped, ended.signal])
    let hasKeys = false
    const last = await watchFiles(
      {
        find: () => findTestFiles(names, true),
        run: (files, found, signal) => suite.run(files, found, signal),
        onWatching: (files) => {
          const how = hasKeys ? 'Enter runs all, f those that failed, q quits' : 'Ctrl-C ends'
          out.write(`watching ${countText(files, 'file')}: ${how}\n`)
        },
        onChange: (paths) => {
          out.write(`\n${paths.map(displayPath).join(', ')} ${paths.length === 1 ? 'has' : 'have'} changed\n`)
        },
        listen: (wish) => {
          if (keyboard === undefined) return () => undefined
          const leave = readKeys(keyboard, {
            onKey: (key) => {
              if (key === 'q') ended.abort()
              else if (Object.hasOwn(WISHES, key)) wish(WISHES[key])
            },
            onInterrupt: () => ended.abort(),
            onSuspend: () => process.kill(0, 'SIGTSTP'),
          })
          hasKeys = leave !== null
          return leave ?? (() => undefined)
        },
      },
      signal,
    )
    return last?.status ?? 0
  })
}
