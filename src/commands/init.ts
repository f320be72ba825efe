/** `newcut init NAME`: makes a project with a contract, its tests and its types, in a folder that is new or empty. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputProblem, shellWord } from '#faces/cli/output-file.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { commandErrors } from './input/errors.ts'

/** Name of the project in the template. */
const TEMPLATE_NAME = 'tip-jar'
/** Files whose name begins with a point in a project: npm packs no file `.gitignore`. */
const HIDDEN = /^(?=gitignore$|github[/\\])/
/** Content of a folder that counts as empty. */
const IGNORED = ['.git', '.DS_Store']
/** Names that npm takes, without a scope. */
const PACKAGE_NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/

/**
 * Makes the project in this folder.
 * @throws NewcutError BAD_OPTION without a name or for one that npm refuses, BAD_OUTPUT for a folder that is not empty
 * or cannot be written
 */
export function runInit(given: string | undefined, { out }: CommandContext): number {
  if (given === undefined) throw operatingError(commandErrors.noProjectName)
  const folder = resolve(given)
  expectName(basename(folder), given)
  const template = templateFolder()
  const files = filesIn(template)
  try {
    expectEmpty(folder, given)
    makeFolder(folder)
    for (const file of files) {
      const name = file.replace(HIDDEN, '.')
      for (const part of foldersOf(name)) makeFolder(join(folder, part))
      const text = projectText(file, readUserText(join(template, file)), basename(folder))
      // Never over a file that another program has made meanwhile.
      writeFileSync(join(folder, name), text, { flag: 'wx' })
    }
  } catch (error) {
    const cause = error as NodeJS.ErrnoException
    if (cause.syscall === undefined) throw error
    const file = cause.path ?? folder
    const { problem, hint } = outputProblem(file, cause)
    throw operatingError(commandErrors.unwritableOutput, { file, problem, advice: hint }, cause)
  }
  const print = printerTo(out)
  print(`${given}: ${files.length} files`)
  print('')
  const enter = folder === process.cwd() ? [] : [`cd ${shellWord(given)}`]
  for (const line of [...enter, 'npm install', 'npm test', 'npm run deploy']) print(line)
  return 0
}

/** @throws NewcutError BAD_OPTION for a name that no package can have */
function expectName(name: string, given: string): void {
  if (PACKAGE_NAME.test(name)) return
  const words = name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')
  const other = words
    .replace(/^[._-]+/, '')
    .replace(/-+$/, '')
    .slice(0, 214)
  throw operatingError(commandErrors.badProjectName, { given, name: other === '' ? 'my-contracts' : other })
}

/** @throws NewcutError BAD_OUTPUT, and errors of the file system */
function expectEmpty(folder: string, given: string): void {
  if (!existsSync(folder)) return
  if (!statSync(folder).isDirectory()) throw operatingError(commandErrors.projectFolderIsFile, { given })
  const content = readdirSync(folder).filter((name) => !IGNORED.includes(name))
  const [first] = content
  if (first === undefined) return
  const more = content.length === 1 ? '' : ` and ${content.length - 1} more`
  throw operatingError(commandErrors.projectFolderNotEmpty, { given, content: `${first}${more}` })
}

/** `examples/` is at the root: two folders above the sources, three above the compiled files. */
function templateFolder(): string {
  const folders = ['../../examples/starter', '../../../examples/starter'].map((path) => {
    return fileURLToPath(new URL(path, import.meta.url))
  })
  const folder = folders.find((folder) => existsSync(folder))
  if (folder === undefined) throw new Error('the files of the new project are missing')
  return folder
}

/** Not with `recursive`, which never ends in /proc. */
function makeFolder(folder: string): void {
  if (!existsSync(folder)) mkdirSync(folder)
}

/** The folders above a file, outer ones first. */
function foldersOf(file: string): string[] {
  const folder = dirname(file)
  return folder === '.' ? [] : [...foldersOf(folder), folder]
}

/** Files of a folder and of those below it, in order. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted()
}

/** The text of a file of the template, with the name of the project and the version of newcut. */
function projectText(file: string, text: string, name: string): string {
  if (file === 'README.md') return text.replace(`# ${TEMPLATE_NAME}`, `# ${name}`)
  if (file !== 'package.json') return text
  return text
    .replace(`"name": "${TEMPLATE_NAME}"`, `"name": "${name}"`)
    .replace(/"newcut": "[^"]*"/, `"newcut": "${packageVersion}"`)
}
