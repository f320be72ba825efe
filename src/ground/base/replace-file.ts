/**
 * Atomic replacement of files: readers see the old content or the new one, also after a crash of the machine. Several
 * processes may replace a file at once; the last one wins.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A new version of the file, ready beside it. */
export interface PreparedFile {
  /** Replaces the file. */
  readonly commit: () => void
  /** Removes the new version. */
  readonly discard: () => void
}

interface ReplacementOptions {
  /**
   * Mode of the new file, which then belongs to this user. Default: owner and mode of the file that it replaces, else
   * what umask leaves of 0o666.
   */
  readonly mode?: number
}

/**
 * Writes the content beside a file, with its owner and permissions. Follows links. The file may not exist yet, its
 * folder must.
 * @throws the error of the file system
 */
export function prepareReplacement(
  path: string,
  content: string | Iterable<Uint8Array>,
  { mode }: ReplacementOptions = {},
): PreparedFile {
  const before = statSync(path, { throwIfNoEntry: false })
  const target = before === undefined ? path : realpathSync(path)
  const beside = temporaryNameOf(target)
  const file = openSync(beside, 'wx', before === undefined ? (mode ?? 0o666) : 0o600)
  try {
    const parts = typeof content === 'string' ? [Buffer.from(content)] : content
    for (const part of parts) for (let done = 0; done < part.length; ) done += writeSync(file, part, done)
    if (before !== undefined && mode === undefined) copyOwner(file, before)
    // umask does not apply to an explicit mode.
    if (mode !== undefined || before !== undefined) fchmodSync(file, mode ?? (before?.mode ?? 0) & 0o7777)
    fsyncSync(file)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  return { commit: () => moveInto(beside, target), discard: () => rmSync(beside, { force: true }) }
}

/**
 * Replaces a file at once (see prepareReplacement).
 * @throws the error of the file system; the old file then stays, and nothing beside it
 */
export function replaceFile(
  path: string,
  content: string | Iterable<Uint8Array>,
  options: ReplacementOptions = {},
): void {
  const { commit, discard } = prepareReplacement(path, content, options)
  try {
    commit()
  } catch (error) {
    discard()
    throw error
  }
}

/** An unused name in the folder of a file. */
export const temporaryNameOf = (path: string): string =>
  join(dirname(path), `${basename(path)}.${randomBytes(6).toString('hex')}.new`)

/**
 * Renames a finished file into its place, and makes that last.
 * @throws the error of the file system
 */
export function moveInto(beside: string, path: string): void {
  renameSync(beside, path)
  syncFolder(dirname(path))
}

/**
 * Makes a folder, and those above it, unless they exist. Unlike `mkdir` with `recursive`, it returns where nobody can make
 * a folder, such as in /proc.
 * @param mode of the folders that it makes, less umask
 * @throws the error of the file system
 */
export function makeFolders(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      if (statSync(path).isDirectory()) return
      throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' })
    }
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    makeFolders(dirname(path), mode)
    mkdirSync(path, mode)
  }
}

/** Makes new and renamed files last. Windows cannot open folders, and needs no such call. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

/** Only root may give a file to another user; a file in a shared folder stays with the user who wrote it. */
function copyOwner(file: number, { uid, gid }: Stats): void {
  if (process.getuid?.() === uid && process.getgid?.() === gid) return
  try {
    fchownSync(file, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}
