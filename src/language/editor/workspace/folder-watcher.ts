/** Watches folders for contracts that change on disk: by git, another editor, or a program. */
import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { isContractFile } from './disk-files.ts'

/** Maximum number of watched folders. Systems limit them for all programs of a user together. */
const MAX_FOLDERS = 1000

/** Who hears of the changes. */
interface FolderEvents {
  /** @param file that was written, created or deleted; a folder stands for the files in it */
  readonly onChange: (file: string) => void
  /** Called once, for the first folder that cannot be watched. */
  readonly onTrouble: (message: string) => void
}

export class FolderWatcher {
  readonly #events: FolderEvents
  readonly #isOwn: (folder: string) => boolean
  readonly #watchers = new Map<string, FSWatcher>()
  #isClosed = false
  #hasTrouble = false

  /** @param isOwn whether to watch a folder: others may be watched by the editor */
  constructor(events: FolderEvents, isOwn: (folder: string) => boolean) {
    this.#events = events
    this.#isOwn = isOwn
  }

  get folders(): readonly string[] {
    return [...this.#watchers.keys()]
  }

  /** Watches a folder, or the nearest one above it that exists. */
  add(folder: string): void {
    if (this.#isClosed || !this.#isOwn(folder) || this.#watchers.has(folder)) return
    if (!existsSync(folder)) {
      if (dirname(folder) !== folder) this.add(dirname(folder))
      return
    }
    if (this.#watchers.size >= MAX_FOLDERS) this.#reportTrouble(folder, `${MAX_FOLDERS} others are watched`)
    else this.#watch(folder)
  }

  close(): void {
    this.#isClosed = true
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => this.#note(folder, name))
      watcher.on('error', () => this.#drop(folder))
      this.#watchers.set(folder, watcher)
    } catch (error) {
      this.#reportTrouble(folder, (error as Error).message)
    }
  }

  #reportTrouble(folder: string, why: string): void {
    if (this.#hasTrouble) return
    this.#hasTrouble = true
    this.#events.onTrouble(`changes in ${folder} are seen at the next save: ${why}`)
  }

  /** @param name of the entry that changed; null if the system does not say */
  #note(folder: string, name: string | null): void {
    if (name === null || !existsSync(folder)) {
      if (name !== null) this.#drop(folder)
      this.#events.onChange(folder)
      return
    }
    const path = join(folder, name)
    if (!isContractFile(name)) {
      if (!this.#isFolder(path)) return
      // A folder of the same name that comes later is another one.
      this.#drop(path)
    }
    this.#events.onChange(path)
  }

  /** Whether a path is a folder, or was one that is watched. */
  #isFolder(path: string): boolean {
    return this.#watchers.has(path) || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
  }

  /** Forgets a folder and all within it. */
  #drop(folder: string): void {
    for (const [each, watcher] of this.#watchers) {
      if (!containsPath(folder, each)) continue
      watcher.close()
      this.#watchers.delete(each)
    }
  }
}

/** Whether a path is a folder or lies within it. */
export function containsPath(folder: string, path: string): boolean {
  return path === folder || path.startsWith(join(folder, sep))
}
