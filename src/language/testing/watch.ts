/** Runs tests again when a file that they read changes. */
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Time without further changes before a run: editors write a file in several steps. */
const QUIET_MS = 100

/** Who hears of the files. */
export interface WatchEvents {
  /** Called when a run has ended. @param files number of files that it read */
  readonly onWatching: (files: number) => void
  /** Called before the next run. @param name of the file that changed */
  readonly onChange: (name: string) => void
}

/**
 * Runs, and runs again after each change of a file that the last run read, until the signal aborts.
 * @returns the result of the last run, or null if the signal had aborted before
 */
export async function watchFiles<T extends { readonly read: readonly string[] }>(
  run: () => Promise<T>,
  { onWatching, onChange }: WatchEvents,
  stopped: AbortSignal,
): Promise<T | null> {
  let done: T | null = null
  while (!stopped.aborted) {
    done = await run()
    const changing = nextChange(done.read, stopped)
    onWatching(new Set(done.read).size)
    const changed = await changing
    if (changed === null) break
    onChange(changed)
  }
  return done
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
