/** Files with secrets, which only their owner may read. */
import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

const OWNER_ALONE = 0o600
const READ_BY_OTHERS = 0o044

/**
 * Creates a file that only its owner can access, regardless of the umask.
 * @throws the error of the file system; EEXIST if the file exists, which then stays unchanged
 */
export function writeSecretFile(path: string, text: string): void {
  const file = openSync(path, 'wx', OWNER_ALONE)
  try {
    // The umask may have removed permissions of the owner.
    fchmodSync(file, OWNER_ALONE)
    writeSync(file, text)
    fsyncSync(file)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

/**
 * Mode of a file that other users may read, such as `644`.
 * @param file a path or a descriptor
 * @returns null if no one else may read it, if it is not a regular file, and always on Windows
 */
export function modeForOthers(file: string | number): string | null {
  const stats = typeof file === 'number' ? fstatSync(file) : statSync(file)
  if (process.platform === 'win32' || !stats.isFile() || (stats.mode & READ_BY_OTHERS) === 0) return null
  return (stats.mode & 0o777).toString(8).padStart(3, '0')
}
