/** Runs test files again when files that they read change, and new ones as they come. */
import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { FoundFiles } from './find.ts'

/** Time without further changes before a run: editors write a file in several steps. */
const QUIET_MS = 100

/** Files that a user asks to run again. */
export type WatchWish = 'all' | 'failed'

/** A run of some of the files. */
export interface WatchedRun {
  /** The exit code. */
  readonly status: number
  /** File that ran -> files that it read. */
  readonly read: ReadonlyMap<string, readonly string[]>
  /** Files among those that ran whose tests failed. */
  readonly failed: readonly string[]
}

/** The watched files, and who hears of changes. */
interface WatchPorts<T extends WatchedRun> {
  readonly find: () => FoundFiles
  /** Runs these files of all. It may reject when the signal aborts. */
  readonly run: (files: readonly string[], found: FoundFiles, stopped: AbortSignal) => Promise<T>
  /** Called when a run has ended. @param files number of files that are watched */
  readonly onWatching: (files: number) => void
  /** Called before the next run. @param paths of files and folders that changed */
  readonly onChange: (paths: readonly string[]) => void
  /** Begins to listen to the user. @returns a function that ends this */
  readonly listen: (wish: (which: WatchWish) => void) => () => void
}

/**
 * Runs all files, and those that a change touches after each change, until the signal aborts.
 * @returns the last run, or null if the signal had aborted before
 */
export async function watchFiles<T extends WatchedRun>(ports: WatchPorts<T>, stopped: AbortSignal): Promise<T | null> {
  const wishes = new Wishes()
  const leave = ports.listen((which) => wishes.add(which))
  const read = new Map<string, readonly string[]>()
  const failed = new Set<string>()
  let found = ports.find()
  let next: readonly string[] = found.files
  let last: T | null = null
  try {
    while (!stopped.aborted) {
      const startedMs = Date.now()
      last = await ports.run(next, found, stopped)
      for (const file of next) failed.delete(file)
      for (const file of last.failed) failed.add(file)
      for (const [file, paths] of last.read) read.set(file, paths)
      const all = found.files.flatMap((file) => [resolve(file), ...(read.get(file) ?? [])])
      const selected = await nextFiles({ ...ports, wishes, read, failed, stopped }, found, all, startedMs)
      if (selected === null) break
      ;[next, found] = [selected.files, selected.found]
    }
  } catch (error) {
    if (!stopped.aborted) throw error
  } finally {
    leave()
  }
  return last
}

interface Waiting<T extends WatchedRun> extends WatchPorts<T> {
  readonly wishes: Wishes
  readonly read: ReadonlyMap<string, readonly string[]>
  readonly failed: ReadonlySet<string>
  readonly stopped: AbortSignal
}

/** Waits until files should run. @returns null once the signal aborts */
async function nextFiles<T extends WatchedRun>(
  { find, onWatching, onChange, wishes, read, failed, stopped }: Waiting<T>,
  found: FoundFiles,
  paths: readonly string[],
  startedMs: number,
): Promise<{ readonly files: readonly string[]; readonly found: FoundFiles } | null> {
  let since = startedMs
  for (let before = found, isFirst = true; ; isFirst = false) {
    const waiting = nextEvent(paths, before.searched, { wishes, stopped, startedMs: since })
    if (isFirst) onWatching(new Set(paths).size)
    const event = await waiting
    if (event === null) return null
    since = Date.now()
    const now = find()
    if (typeof event === 'string') {
      const files = event === 'all' ? now.files : now.files.filter((file) => failed.has(file))
      if (files.length > 0) return { files, found: now }
    } else {
      const isTouched = (file: string) =>
        [resolve(file), ...(read.get(file) ?? [])].some((path) => event.files.has(path))
      const files = now.files.filter((file) => !read.has(file) || isTouched(file))
      if (files.length > 0) {
        onChange([...event.paths])
        return { files, found: now }
      }
    }
    before = now
  }
}

/** A wish of the user, until somebody takes it. */
class Wishes {
  #wish: WatchWish | null = null
  onWish: () => void = () => undefined

  add(wish: WatchWish): void {
    this.#wish = wish
    this.onWish()
  }

  take(): WatchWish | null {
    const wish = this.#wish
    this.#wish = null
    return wish
  }
}

/** Folder to watch for a file, and the name in it: of the file, or of the first folder on its way that is missing. */
function watchedName(file: string): readonly [folder: string, name: string] {
  let [folder, name] = [dirname(file), basename(file)]
  while (!existsSync(folder) && folder !== dirname(folder)) [folder, name] = [dirname(folder), basename(folder)]
  return [folder, name]
}

/** Changes on the disk. */
interface Changes {
  /** Files that changed, or may exist now. */
  readonly files: ReadonlySet<string>
  /** Changed files, and folders on the way to one. */
  readonly paths: ReadonlySet<string>
}

interface EventSources {
  readonly wishes: Wishes
  readonly stopped: AbortSignal
  /** A later change of a file is an event at once. */
  readonly startedMs: number
}

/**
 * @param files files whose changes count
 * @param folders folders in which all test files and folders count
 * @returns the changes, a wish, or null once the signal aborts
 */
function nextEvent(
  files: readonly string[],
  folders: readonly string[],
  { wishes, stopped, startedMs }: EventSources,
): Promise<Changes | WatchWish | null> {
  const names = new Map<string, Map<string, string[]>>()
  const namesIn = (folder: string) => {
    const own = names.get(folder) ?? new Map<string, string[]>()
    names.set(folder, own)
    return own
  }
  for (const file of new Set(files)) {
    const [folder, name] = watchedName(file)
    namesIn(folder).set(name, [...(namesIn(folder).get(name) ?? []), file])
  }
  const searched = new Set(folders.map((folder) => resolve(folder)))
  for (const folder of searched) namesIn(folder)
  return new Promise((done) => {
    let timer: NodeJS.Timeout | undefined
    const watchers: FSWatcher[] = []
    const changes = { files: new Set<string>(), paths: new Set<string>() }
    const end = (event: Changes | WatchWish | null) => {
      clearTimeout(timer)
      for (const each of watchers) each.close()
      wishes.onWish = () => undefined
      stopped.removeEventListener('abort', stop)
      done(event)
    }
    const stop = () => end(null)
    const add = (path: string, touched: readonly string[] = []) => {
      changes.paths.add(path)
      for (const file of touched) changes.files.add(file)
      clearTimeout(timer)
      timer = setTimeout(() => end(changes), QUIET_MS)
    }
    stopped.addEventListener('abort', stop, { once: true })
    wishes.onWish = () => {
      const wish = wishes.take()
      if (wish !== null) end(wish)
    }
    // Editors replace files, so a watched file would be lost: its folder stays.
    for (const [folder, own] of names) {
      if (!existsSync(folder)) continue
      const watcher = watch(folder, (_, name) => {
        if (name === null) return
        const path = join(folder, name)
        const touched = own.get(name)
        if (touched !== undefined) add(path, touched)
        else if (searched.has(folder) && (name.endsWith('.repl') || isFolder(path))) add(path)
      })
      watcher.on('error', () => end(null))
      watchers.push(watcher)
    }
    for (const file of new Set(files)) if (changeMs(file) > startedMs) add(file, [file])
    wishes.onWish()
  })
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** When a file changed last, in Unix milliseconds; 0 if it does not exist. */
const changeMs = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
