/** Version from package.json. */
import { readFileSync } from 'node:fs'

export const packageVersion: string = readPackageVersion()

/** package.json is three folders above this file, and four above its compiled form. */
function readPackageVersion(): string {
  for (const path of ['../../../package.json', '../../../../package.json']) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error('package.json is missing')
}
