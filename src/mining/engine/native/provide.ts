/** Provides a native part: from the cache of the user, or compiled and put there. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'
import type { EnvironmentVariables } from '../cache-folder.ts'
import { storeInCache } from './cache.ts'
import { compilePart } from './compile.ts'
import { cachedFile, compilerOf, installedFile, lookUp, type NativePart } from './part.ts'

/**
 * Makes the file of the installation. After a failure there is none.
 * @returns what was done, as a sentence
 */
export async function installPart(part: NativePart, env: EnvironmentVariables): Promise<string> {
  const file = installedFile(part)
  const cached = cachedFile(part, env)
  const found = lookUp(cached)
  if (found === 'usable') {
    copy(cached, file)
    dropOthers(part, file)
    return `${part.title}: taken from ${dirname(cached)}`
  }
  const compiler = compilerOf(env)
  rmSync(file, { force: true })
  const failure = await compilePart({ part, output: file, compiler })
  if (failure !== null) return `no ${part.title}: ${failure}`
  dropOthers(part, file)
  const unkept = typeof found === 'object' ? found.fault : storeInCache(file, cached)
  return `${part.title} compiled with ${compiler}${unkept === null ? '' : `, and not kept for the next installation: ${unkept}`}`
}

/**
 * Compiles a part into the cache, for installations whose scripts did not run.
 * @returns what was done, as a sentence
 */
export async function cachePart(part: NativePart, cached: string, env: EnvironmentVariables): Promise<string> {
  const compiler = compilerOf(env)
  const folder = mkdtempSync(join(tmpdir(), 'newcut-compiled-'))
  try {
    const output = join(folder, basename(cached))
    const failure = (await compilePart({ part, output, compiler })) ?? storeInCache(output, cached)
    return failure === null ? `${part.title} compiled with ${compiler}` : `no ${part.title}: ${failure}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function copy(from: string, to: string): void {
  makeFolders(dirname(to))
  // Only the cache is private: root may install for others.
  replaceFile(to, [readFileSync(from)], { mode: 0o755 })
}

/** Removes older builds of the part. A process that has loaded one keeps it. */
function dropOthers({ name, extension }: NativePart, file: string): void {
  for (const other of readdirSync(dirname(file))) {
    const isOld = other.startsWith(`${name}-`) && other.endsWith(`.${extension}`) && other !== basename(file)
    if (isOld) rmSync(join(dirname(file), other), { force: true })
  }
}
