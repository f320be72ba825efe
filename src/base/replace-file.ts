/** Atomic replacement of files: readers see the old text or the new one. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'

/** A new version of the file, ready beside it. */
export interface Prepared {
  /** Replaces the file. */
  readonly commit: () => void
  /** Removes the new version. */
  readonly discard: () => void
}

/**
 * Writes the text beside an existing file, with the same permissions. Follows links.
 * @throws the error of the file system
 */
export function prepareReplacement(path: string, text: string): Prepared {
  const target = realpathSync(path)
  const beside = `${target}.${randomBytes(6).toString('hex')}.new`
  const { mode } = statSync(target)
  const file = openSync(beside, 'wx', 0o600)
  try {
    fchmodSync(file, mode)
    writeSync(file, text)
    fsyncSync(file)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  return { commit: () => renameSync(beside, target), discard: () => rmSync(beside, { force: true }) }
}

/**
 * Creates or replaces a file that one process at a time writes. Only its owner may read it. Its new text is on disk
 * before the old one goes.
 * @throws the error of the file system
 */
export function replaceOwnFile(path: string, text: string): void {
  const beside = `${path}.new`
  const file = openSync(beside, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
}
