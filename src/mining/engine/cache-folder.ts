/**
 * The cache folder for results that the next start reuses: tuned values of GPUs, the compiled native kernel and its
 * order. Measurements are in tuning files: JSON objects with one entry for each device or machine, and a seal.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { describeError } from '#ground/base/errors.ts'
import { jsonObjectIn } from '#ground/base/json.ts'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'
import { sealOf } from '#ground/base/seal.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** newcut's folder in the user's cache folder. It may not exist. */
export function cacheFolder(env: EnvironmentVariables, platform: NodeJS.Platform): string {
  const folder =
    platform === 'win32'
      ? env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local')
      : env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(folder, 'newcut')
}

/** The file with the measured orders of native kernels. */
export function kernelTuningFileOf(env: EnvironmentVariables, platform: NodeJS.Platform): string {
  return join(cacheFolder(env, platform), 'kernel-tuning.json')
}

/** The file with the tuned values of GPUs. */
export function tuningFileOf(env: EnvironmentVariables, platform: NodeJS.Platform): string {
  return join(cacheFolder(env, platform), 'gpu-tuning.json')
}

/** Maximum number of entries in a file of one machine: entries of old drivers and cards must not add up. */
const MAX_ENTRIES = 32

interface TuningFile {
  /** The usable entries by key, the oldest first. */
  readonly entries: Map<string, unknown>
  /** Why an existing file gives no entries, such as `FILE is damaged`. Null if it is usable or missing. */
  readonly problem: string | null
}

/** Reads a file. A missing or damaged one has no entries. Files of earlier versions have no seal. Never throws. */
export function readTuningFile(file: string): TuningFile {
  const without = (problem: string | null) => ({ entries: new Map(), problem })
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return without(isMissing ? null : `${file} cannot be read: ${describeError(error)}`)
  }
  const value = jsonObjectIn(text)
  if (value === null) return without(`${file} is damaged`)
  const { [SEAL]: seal, ...entries } = value
  if (seal !== undefined && seal !== sealOfEntries(entries)) return without(`${file} is damaged`)
  return { entries: new Map(Object.entries(entries)), problem: null }
}

/**
 * Replaces a file by these entries.
 * @param maxEntries maximum number of entries in the file. The oldest are evicted
 * @throws if it cannot be written
 */
export function writeTuningFile(file: string, entries: ReadonlyMap<string, unknown>, maxEntries = MAX_ENTRIES): void {
  const newest = Object.fromEntries([...entries].slice(-maxEntries))
  makeFolders(dirname(file))
  replaceFile(file, `${JSON.stringify({ ...newest, [SEAL]: sealOfEntries(newest) }, null, 2)}\n`)
}

/** The property that has the seal of all others. */
const SEAL = 'seal'

const sealOfEntries = (entries: Readonly<Record<string, unknown>>) =>
  sealOf((bytes) => createHash('sha256').update(bytes).digest(), '', JSON.stringify(entries))
