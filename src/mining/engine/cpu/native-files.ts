/** Locations of native kernels: those of the package, and those compiled on this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cachedFile, inRoot, installedFile, lookUp, markOf, type NativePart } from '../native/part.ts'

export const KERNEL: NativePart = {
  name: 'kernel',
  title: 'native kernel',
  folder: 'src/mining/engine/cpu/native',
  // The slowest to compile first.
  units: ['avx2.c', 'avx512-steps.c', 'sse41.c', 'avx512.c', 'neon.c', 'kernel.c'],
  headers: ['kernel.h', 'sweep.h', 'ports.h', 'assembly.h', 'rows.h', 'staggered.h', 'mixed.h'],
  // -O2 reaches 0.85 to 0.90 of this speed; -fno-tree-vectorize makes no difference.
  options: ['-O3'],
  extension: 'node',
  output: 'build',
}

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

export const prebuiltKernel = inRoot(`prebuilds/${process.platform}-${process.arch}/newcut-kernel.node`)

export function findNative(env: Readonly<Record<string, string | undefined>>): NativeFiles {
  return { prebuilt: prebuiltKernel, installed: installedFile(KERNEL), cached: cachedFile(KERNEL, env) }
}

/** Mark that the compiled file contains, to identify its sources. */
export const sourcesMark = (): string => markOf(KERNEL)

/** Why a prebuilt file cannot be used. Null if it fits and loads, `absent` if there is none. */
export function prebuiltFault(file: string): string | null {
  if (!existsSync(file)) return 'absent'
  if (!readFileSync(file).includes(sourcesMark())) return 'it was made from other sources'
  try {
    createRequire(import.meta.url)(file)
    return null
  } catch (error) {
    return `it does not load: ${(error as Error).message.split('\n')[0]}`
  }
}

/** Why a file must not even be loaded, or null. */
export function originFault(file: string, origin: NativeOrigin): string | null {
  if (origin === 'prebuilt') return readFileSync(file).includes(sourcesMark()) ? null : 'it was made from other sources'
  if (origin === 'installed') return null
  const found = lookUp(file)
  return found === 'usable' ? null : found === 'absent' ? 'it is incomplete' : found.fault
}
