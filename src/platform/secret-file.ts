/** Files with a secret in them, which only their owner is to read. */
import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

const OWNER_ALONE = 0o600
const READ_BY_OTHERS = 0o044

/**
 * Writes a file that was not there, for its owner alone whatever the umask says. Throws the error of the file system,
 * EEXIST where there is a file: then nothing has changed.
 */
export function writeSecretFile(path: string, text: string): void {
  const file = openSync(path, 'wx', OWNER_ALONE)
  try {
    // The umask may have taken rights from the owner too.
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
 * The mode of a file (a path or a descriptor) that other users may read, as `644`; null: nobody else may, or it is no
 * regular file. On Windows, where modes do not say it, null.
 */
export function modeForOthers(file: string | number): string | null {
  const stats = typeof file === 'number' ? fstatSync(file) : statSync(file)
  if (process.platform === 'win32' || !stats.isFile() || (stats.mode & READ_BY_OTHERS) === 0) return null
  return (stats.mode & 0o777).toString(8).padStart(3, '0')
}
