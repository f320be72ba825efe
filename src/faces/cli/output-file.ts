/** Files that users name for output, and why one cannot be written. */
import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { cliErrors } from './errors.ts'

interface OutputProblem {
  /** Completes "FILE: ...". */
  readonly problem: string
  readonly hint: string
}

/** `error`: the error of the file system when newcut opened `path` for writing. */
export function outputProblem(path: string, { code }: NodeJS.ErrnoException): OutputProblem {
  const folder = dirname(path)
  if (code === 'ENOENT' && !existsSync(folder)) {
    return { problem: `there is no folder ${folder} (ENOENT)`, hint: `mkdir -p ${shellWord(folder)} makes it` }
  }
  if (code === 'EISDIR') return { problem: 'this is a folder (EISDIR)', hint: 'name a file in it' }
  return { problem: `it cannot be written (${code})`, hint: 'name a file in a folder that you may write to' }
}

/**
 * Writes the file of an option such as `--junit`.
 * @throws NewcutError BAD_OUTPUT
 */
export function writeOutput(flag: string, path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw outputError(flag, path, error as NodeJS.ErrnoException)
  }
}

/**
 * Checks that the file of an option can be written, before the work whose result it is for. The file does not change.
 * @throws NewcutError BAD_OUTPUT
 */
export function checkOutput(flag: string, path: string): void {
  try {
    if (existsSync(path)) accessSync(path, constants.W_OK)
    // The separator keeps a file from passing for a folder.
    else accessSync(`${dirname(path)}${sep}`, constants.W_OK)
  } catch (error) {
    throw outputError(flag, path, error as NodeJS.ErrnoException)
  }
  if (existsSync(path) && statSync(path).isDirectory()) {
    throw outputError(flag, path, Object.assign(new Error('it is a folder'), { code: 'EISDIR' }))
  }
}

function outputError(flag: string, path: string, error: NodeJS.ErrnoException): NewcutError {
  const { problem, hint } = outputProblem(path, error)
  return operatingError(cliErrors.unwritableOutput, { flag, file: path, problem, advice: hint }, error)
}

/** A word in the quoting of shells. */
export const shellWord = (word: string) =>
  /^[\w./~@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
