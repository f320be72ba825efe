/**
 * Native parts: optional C code that is compiled once for a machine and its sources, and kept in the cache of the user.
 * The code runs in our process. So a file of the cache counts only if nobody else can have written it, and if it is
 * complete.
 */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder, type EnvironmentVariables } from '../cache-folder.ts'

export interface NativePart {
  /** Start of its file names. */
  readonly name: 'kernel' | 'layer' | 'send'
  /** Name for people. */
  readonly title: string
  /** Folder of the sources, relative to the root. */
  readonly folder: string
  /** C files, which are compiled at the same time. */
  readonly units: readonly string[]
  readonly headers: readonly string[]
  /** Options of the compiler. */
  readonly options: readonly string[]
  readonly extension: 'node' | 'so'
  /** Folder of the compiled file, relative to the root. */
  readonly output: string
}

/** The folder of package.json: four levels above the sources, five above the compiled files. */
const ROOT = fileURLToPath(new URL(`${import.meta.url.endsWith('.ts') ? '' : '../'}../../../../`, import.meta.url))

export const inRoot = (path: string): string => join(ROOT, path)

/** Compiles native parts, in a process of its own. */
export const INSTALL_SCRIPT = fileURLToPath(new URL('../../../compose/install.js', import.meta.url))

/** The command of the C compiler, perhaps with options. */
export const compilerOf = ({ CC }: EnvironmentVariables): string => CC?.trim() || 'cc'

/** Options of every part. Symbols of Node.js are resolved at load time, for which macOS needs an option. */
export const COMMON_OPTIONS = ['-std=gnu11', '-fPIC', '-fvisibility=hidden']

/** Identifies the sources and options of a part. Missing sources count as empty: a build then fails with a message. */
export function markOf({ name, folder, units, headers, options }: NativePart): string {
  const hash = createHash('sha256').update(JSON.stringify([COMMON_OPTIONS, options]))
  for (const file of [...units, ...headers]) {
    const path = inRoot(join(folder, file))
    hash.update(`${file}\n`).update(existsSync(path) ? readFileSync(path) : '')
  }
  return `newcut ${name} of ${hash.digest('hex')}`
}

/** File name of a part for this machine. A build of other sources has another name, so none is taken for it. */
function fileName(part: NativePart, compiler = ''): string {
  const hash = createHash('sha256').update([markOf(part), process.platform, process.arch, compiler].join('|'))
  return `${part.name}-${hash.digest('hex').slice(0, 16)}.${part.extension}`
}

/** The file that the installation makes. It may not exist. */
export const installedFile = (part: NativePart): string => join(inRoot(part.output), fileName(part))

/** The file in the user's cache, one for each compiler. It may not exist. */
export const cachedFile = (part: NativePart, env: EnvironmentVariables): string =>
  join(cacheFolder(env, process.platform), 'native', fileName(part, env.CC))

/** Where the hash of a file is. It is written last. */
export const hashFileOf = (file: string) => `${file}.sha256`

export const sha256Hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Answer of the cache: no complete file, a usable one, or one that must not be loaded, with the reason. */
type CacheState = 'absent' | 'usable' | { readonly fault: string }

export function lookUp(file: string): CacheState {
  if (!existsSync(file) || !existsSync(hashFileOf(file))) return 'absent'
  const fault = distrust(dirname(file)) ?? distrust(file) ?? distrust(hashFileOf(file))
  if (fault !== null) return { fault }
  return readFileSync(hashFileOf(file), 'utf8') === sha256Hex(readFileSync(file)) ? 'usable' : 'absent'
}

/**
 * Why another user may have written a file or into a folder, as the end of a sentence; null if nobody may. On Windows
 * the profile of the user is protected.
 */
export function distrust(path: string): string | null {
  if (process.getuid === undefined) return null
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return `${path} is a link`
  if (stats.uid !== process.getuid()) return `${path} belongs to another user`
  // The sticky bit of a folder such as /tmp stops users from replacing files of other users.
  const isSticky = stats.isDirectory() && (stats.mode & 0o1000) !== 0
  if ((stats.mode & 0o022) !== 0 && !isSticky)
    return `others may write to ${path} (mode ${(stats.mode & 0o777).toString(8)})`
  return null
}
