/**
 * The package `webgpu`, through which GPUs search. It is larger than newcut and all that newcut needs, so people install
 * it themselves, and newcut asks for it only where there is a graphics card.
 */
import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { inRoot } from '../native/part.ts'

/** The version that newcut is tested with. */
export const WEBGPU = 'webgpu@0.6.2'

/** Whether the package is installed where newcut finds it. */
export function hasWebgpu(): boolean {
  try {
    import.meta.resolve('webgpu')
    return true
  } catch {
    return false
  }
}

/**
 * The command that installs the package beside newcut.
 * @param root folder of newcut
 */
export function installCommandOf(root: string = inRoot('')): string {
  if (existsSync(join(root, 'package-lock.json'))) return 'npm ci'
  const folders = root.split(sep)
  const place = folders.lastIndexOf('node_modules')
  if (place === -1) return `cd ${root} && npm install ${WEBGPU}`
  if (folders[place - 2] === '_npx') return `npx -p newcut -p ${WEBGPU} newcut mine`
  // npm keeps no package.json beside packages that all projects share.
  const isShared = !existsSync(join(...folders.slice(0, place).map((part) => part || sep), 'package.json'))
  return `npm install ${isShared ? '-g ' : ''}${WEBGPU}`
}
