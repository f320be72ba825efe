/** Files of contracts in the folders that an editor has open. */
import { readdirSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileProblem } from '#ground/base/errors.ts'
import { MAX_CODE_BYTES, readUserFile, readUserText } from '#ground/base/user-file.ts'
import { systemTextAt } from '../../contracts/system/system.ts'
import type { WorkspaceFiles } from './workspace.ts'

/** Maximum number of entries in one search: a home folder as workspace must not stop the editor. */
const MAX_ENTRIES = 20_000
/** Maximum depth of a folder in one search, for the same reason. */
const MAX_DEPTH = 12
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'build', 'target'])
/** Compiled code lies in dist/; the contracts stay in src/. */
const SYSTEM = import.meta.url.endsWith('.ts')
  ? '../../contracts/system/'
  : '../../../../../src/language/contracts/system/'

/** @param onFolder called before files of a folder are read or listed */
export function diskFiles(
  folders: readonly string[],
  onFolder: (folder: string) => void = () => undefined,
): WorkspaceFiles {
  let listed: readonly string[] | null = null
  return {
    read: (file) => {
      if (isAbsolute(file)) onFolder(dirname(file))
      return readText(file)
    },
    problem: problemOf,
    resolve: (from, path) => resolve(dirname(from), path),
    list: () => {
      listed ??= contractsIn(folders, onFolder)
      return listed
    },
    refresh: () => {
      listed = null
    },
    systemFile: (name) => fileURLToPath(new URL(`${SYSTEM}${name}.pact`, import.meta.url)),
  }
}

/** @returns null if the file cannot be read, is not a regular file, or is too large to be a contract */
export function readText(file: string): string | null {
  try {
    return readUserText(file, MAX_CODE_BYTES)
  } catch (error) {
    // A file that is missing or may not be read is reported where a program loads it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? systemTextAt(file) : null
  }
}

/** @returns why newcut does not read an existing file, or null if it does not exist */
function problemOf(file: string): string | null {
  try {
    readUserFile(file, MAX_CODE_BYTES)
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : fileProblem(error)
  }
}

export function isContractFile(name: string): boolean {
  return name.endsWith('.pact') || name.endsWith('.repl')
}

/** Contracts first, since modules are looked up in them. */
function contractsIn(folders: readonly string[], onFolder: (folder: string) => void): string[] {
  const found: string[] = []
  let entries = 0
  const visit = (folder: string, depth: number) => {
    onFolder(folder)
    for (const entry of entriesOf(folder)) {
      if (++entries > MAX_ENTRIES) return
      const path = join(folder, entry.name)
      if (entry.isFile() && isContractFile(entry.name)) found.push(path)
      const isFolder = entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name)
      if (isFolder && depth < MAX_DEPTH) visit(path, depth + 1)
    }
  }
  for (const folder of folders) visit(folder, 0)
  return found.toSorted((a, b) => Number(b.endsWith('.pact')) - Number(a.endsWith('.pact')))
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // A folder that may not be read has no contracts.
    return []
  }
}
