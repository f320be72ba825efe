/** Finds test files in folders. */
import { type Dirent, existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileProblem, operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { MAX_CODE_BYTES, readUserText } from '#ground/base/user-file.ts'
import type { Form } from '../contracts/syntax/form.ts'
import { read } from '../contracts/syntax/reader.ts'
import { testingErrors } from './errors.ts'
import { DEPENDENCIES } from './files.ts'

/** Maximum files and folders that a search looks at: a search of a whole disk is a mistake. */
const MAX_ENTRIES = 100_000
const ENDING = '.repl'

/** The test files that a command line names. */
export interface FoundFiles {
  /** Without repetitions, in the order of the names. The files of a folder are sorted. */
  readonly files: readonly string[]
  /** The folders among the names. */
  readonly folders: readonly string[]
  /** These and all folders below that were searched. */
  readonly searched: readonly string[]
}

/**
 * Finds the files of names: a file stands for itself, and a folder for the test files in it and below. Without names, the
 * working directory is searched.
 *
 * A search leaves out hidden folders, those of dependencies, and files that another found file loads: these run there.
 * @param mayBeMissing whether a name of nothing stands for a file that will be written
 * @throws NewcutError BAD_OPTION for a name of nothing, a folder without test files, and one with too many entries
 */
export function findTestFiles(names: readonly string[], mayBeMissing = false): FoundFiles {
  const files = new Map<string, string>()
  const folders: string[] = []
  const searched: string[] = []
  for (const name of names.length === 0 ? ['.'] : names) {
    if (isFolder(name, mayBeMissing)) {
      const below = filesBelow(name)
      const roots = rootsOf(below.files)
      searched.push(...below.folders)
      if (roots.length === 0 && !mayBeMissing) throw operatingError(testingErrors.noTestFiles, { folder: name })
      folders.push(name)
      for (const each of roots) files.set(resolve(each), each)
    } else files.set(resolve(name), name)
  }
  return { files: [...files.values()], folders, searched }
}

function isFolder(name: string, mayBeMissing: boolean): boolean {
  const stats = statsOf(name)
  if (stats !== undefined || mayBeMissing) return stats?.isDirectory() === true
  throw operatingError(testingErrors.missingTestFile, { file: name, guess: guessOf(name) })
}

/** @returns undefined for a name of nothing. @throws NewcutError BAD_OPTION for one that cannot be looked up */
function statsOf(name: string): Stats | undefined {
  try {
    return statSync(name, { throwIfNoEntry: false })
  } catch (error) {
    // A part of the path is a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw operatingError(testingErrors.unreadableFolder, { folder: name, why: fileProblem(error) }, error)
  }
}

/** A question for the name of a file that is not there, or an empty text. */
function guessOf(name: string): string {
  if (existsSync(name + ENDING)) return `; did you mean ${name}${ENDING}?`
  const folder = dirname(name)
  try {
    const names = readdirSync(folder).filter((each) => each.endsWith(ENDING))
    return suggestName(basename(name), names)
  } catch {
    return `; there is no folder ${folder}`
  }
}

/** The test files in a folder and below, sorted, and all these folders. @throws NewcutError BAD_OPTION */
function filesBelow(top: string): { readonly files: readonly string[]; readonly folders: readonly string[] } {
  const files: string[] = []
  const folders = [top]
  let count = 0
  for (const folder of folders) {
    const entries = entriesOf(folder)
    count += entries.length
    if (count > MAX_ENTRIES) throw operatingError(testingErrors.tooManyEntries, { folder: top, most: MAX_ENTRIES })
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !DEPENDENCIES.has(entry.name)) folders.push(path)
      } else if (entry.name.endsWith(ENDING) && isFile(entry, path)) files.push(path)
    }
  }
  return { files: files.sort((one, other) => (one < other ? -1 : 1)), folders }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw operatingError(testingErrors.unreadableFolder, { folder, why: fileProblem(error) }, error)
  }
}

/** Links to files count, and links to folders do not: they may lead in a circle. */
function isFile(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile()
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** Files that no other of them loads, and one of each circle of files that load each other. */
function rootsOf(files: readonly string[]): string[] {
  const loads = new Map(files.map((file) => [resolve(file), loadsOf(file)]))
  const loaded = new Set([...loads].flatMap(([file, others]) => others.filter((other) => other !== file)))
  const reached = new Set<string>()
  const roots = new Set<string>()
  const reach = (root: string) => {
    roots.add(root)
    const next = [root]
    for (let file = next.pop(); file !== undefined; file = next.pop()) {
      if (reached.has(file)) continue
      reached.add(file)
      next.push(...(loads.get(file) ?? []))
    }
  }
  for (const file of loads.keys()) if (!loaded.has(file)) reach(file)
  for (const file of loads.keys()) if (!reached.has(file)) reach(file)
  return files.filter((file) => roots.has(resolve(file)))
}

/** Test files that the plain texts of `load` in a file name. */
function loadsOf(file: string): string[] {
  const files: string[] = []
  const forms = formsOf(file)
  for (let form = forms.pop(); form !== undefined; form = forms.pop()) {
    if (form.form === 'object') forms.push(...form.fields.map(([, value]) => value))
    else if (form.form === 'call' || form.form === 'list') {
      forms.push(...form.items)
      const [head, path] = form.items
      const isLoad = head?.form === 'atom' && head.name === 'load' && path?.form === 'string'
      if (isLoad && path.value.endsWith(ENDING)) files.push(resolve(dirname(file), path.value))
    }
  }
  return files
}

/** The forms of a file that mentions others. The run of a file that cannot be read says why. */
function formsOf(file: string): Form[] {
  try {
    const text = readUserText(file, MAX_CODE_BYTES)
    return text.includes(ENDING) ? read(text) : []
  } catch {
    return []
  }
}
