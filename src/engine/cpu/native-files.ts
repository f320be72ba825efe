/** Locations of native kernels: those of the package, and those compiled on this machine. */
import { createHash, type Hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder } from '../cache-folder.ts'

/** The folder of package.json: three levels above the sources, four above the compiled files. */
const ROOT = new URL(`${import.meta.url.endsWith('.ts') ? '' : '../'}../../../`, import.meta.url)
const NATIVE_FOLDER = new URL('src/engine/cpu/native/', ROOT)
export const BUILD_SCRIPT = new URL('build.js', NATIVE_FOLDER)

/** Paths at which files may be missing. */
export interface NativeFiles {
  /** Shipped with the package for this platform and processor. */
  readonly prebuilt: string
  /** Compiled by the installation. */
  readonly installed: string
  /** In the user's cache, under the hash of everything that the file depends on. */
  readonly cached: string
}

/** In the order of attempts. */
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

/** Mark that build.js writes into a compiled file, to identify its sources. */
export function sourcesMark(): string {
  return `newcut kernel of ${hashSources().digest('hex')}`
}

function hashSources(): Hash {
  const hash = createHash('sha256')
  // build.js contains the compiler flags. Without sources, a build fails with a message.
  for (const name of ['kernel.c', 'sweep.h', 'ports.h', 'build.js']) {
    const file = new URL(name, NATIVE_FOLDER)
    if (existsSync(file)) hash.update(readFileSync(file))
  }
  return hash
}
