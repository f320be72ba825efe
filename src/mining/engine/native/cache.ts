/** Puts compiled parts into the cache folder of the user. */
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'
import { distrust, hashFileOf, sha256Hex } from './part.ts'

/** Files of each part that are kept: one for each version of newcut that is in use, and compiler. */
const MAX_FILES = 8

/**
 * Puts a compiled file into the cache.
 * @returns null on success, or why it is not kept
 */
export function storeInCache(compiled: string, file: string): string | null {
  const folder = dirname(file)
  try {
    const fault = distrust(nearest(folder))
    if (fault !== null) return fault
    makeFolders(folder, 0o700)
    const bytes = readFileSync(compiled)
    replaceFile(file, [bytes], { mode: 0o600 })
    replaceFile(hashFileOf(file), sha256Hex(bytes), { mode: 0o600 })
    dropOldest(folder, basename(file).split('-')[0])
    return null
  } catch (error) {
    return (error as Error).message.split('\n')[0]
  }
}

function dropOldest(folder: string, part: string): void {
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(`${part}-`) && /\.(node|so)$/.test(name))
    .map((name) => join(folder, name))
    .toSorted((a, b) => lstatSync(b).mtimeMs - lstatSync(a).mtimeMs)
  for (const file of files.slice(MAX_FILES)) for (const each of [file, hashFileOf(file)]) rmSync(each, { force: true })
}

/** The folder, or the nearest one above that exists. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))
