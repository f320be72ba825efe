/** Where native kernels lie: those that the package brings, and those that were compiled on this machine. */
import { createHash, type Hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../cache-folder.ts'

/** The folder with package.json: three above the sources and four above the compiled files. */
const ROOT = new URL(`${import.meta.url.endsWith('.ts') ? '' : '../'}../../../`, import.meta.url)
const NATIVE_FOLDER = new URL('src/engine/cpu/native/', ROOT)
export const BUILD_SCRIPT = new URL('build.js', NATIVE_FOLDER)

/** Each is a path at which a file need not exist. */
export interface NativeFiles {
  /** What the package brings for this platform and processor. */
  readonly prebuilt: string
  /** Where the installation puts what it compiles. */
  readonly installed: string
  /** In the user's cache, under the hash of all that the file depends on. */
  readonly cached: string
}

/** In the order in which they are tried. */
export const nativeOrigins = ['prebuilt', 'installed', 'cached'] as const satisfies readonly (keyof NativeFiles)[]
export type NativeOrigin = (typeof nativeOrigins)[number]

export function findNative(env: Readonly<Record<string, string | undefined>>): NativeFiles {
  const hash = hashSources().update([process.platform, process.arch, process.versions.modules, env.CC ?? ''].join('|'))
  return {
    prebuilt: fileURLToPath(new URL(`prebuilds/${process.platform}-${process.arch}/newcut-kernel.node`, ROOT)),
    installed: fileURLToPath(new URL('build/newcut-kernel.node', ROOT)),
    cached: join(cacheFolder(env, process.platform), `kernel-${hash.digest('hex').slice(0, 16)}.node`),
  }
}

/** What build.js writes into a compiled file, so that a prebuilt one of other sources is told from one of these. */
export function sourcesMark(): string {
  return `newcut kernel of ${hashSources().digest('hex')}`
}

function hashSources(): Hash {
  const hash = createHash('sha256')
  // build.js holds the compiler's flags. Without the sources nothing can be built, and the attempt says so.
  for (const name of ['kernel.c', 'sweep.h', 'build.js']) {
    const file = new URL(name, NATIVE_FOLDER)
    if (existsSync(file)) hash.update(readFileSync(file))
  }
  return hash
}
