/** `newcut contract --watch`: runs the tests again when a file that they read changes. */
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { counted, type Output } from '../cli/line.ts'

/** Time without further changes before a run: editors write a file in several steps. */
const QUIET_MS = 100

/**
 * Runs, and runs again after each change, until the signal aborts.
 * @returns the exit code of the last run
 */
export async function watchFiles(
  run: () => Promise<{ readonly status: number; readonly read: readonly string[] }>,
  out: Output,
  stopped: AbortSignal,
): Promise<number> {
  let status = 0
  while (!stopped.aborted) {
    const { read, ...done } = await run()
    status = done.status
    const changing = nextChange(read, stopped)
    out.write(`watching ${counted(new Set(read).size, 'file')}: Ctrl-C ends\n`)
    const changed = await changing
    if (changed === null) break
    out.write(`\n${changed} has changed\n`)
  }
  return status
}

/** Folder to watch for a file, and the name in it: of the file, or of the first folder on its way that is missing. */
function watchedName(file: string): readonly [folder: string, name: string] {
  let [folder, name] = [dirname(file), basename(file)]
  while (!existsSync(folder) && folder !== dirname(folder)) [folder, name] = [dirname(folder), basename(folder)]
  return [folder, name]
}

/** @returns the name of a file that changed, or null once the signal aborts */
function nextChange(files: readonly string[], stopped: AbortSignal): Promise<string | null> {
  const names = new Map<string, Set<string>>()
  for (const file of files) {
    const [folder, name] = watchedName(file)
    names.set(folder, (names.get(folder) ?? new Set()).add(name))
  }
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined
    const watchers: FSWatcher[] = []
    const end = (changed: string | null) => {
      clearTimeout(timer)
      for (const each of watchers) each.close()
      resolve(changed)
    }
    stopped.addEventListener('abort', () => end(null), { once: true })
    // Editors replace files, so a watched file would be lost: its folder stays.
    for (const [folder, own] of names) {
      const watcher = watch(folder, (_, name) => {
        if (name === null || !own.has(name)) return
        clearTimeout(timer)
        timer = setTimeout(() => end(name), QUIET_MS)
      })
      watcher.on('error', () => end(null))
      watchers.push(watcher)
    }
  })
}
